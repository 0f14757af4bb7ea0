import ImageModel
import Ledger
import Partition
import Records
import Testing

@Suite("Which store a partition's rows are used with", .timeLimit(.minutes(1)))
struct StoreBindingTests {
    private static let (one, other) = (
        StoreIdentity(String(repeating: "1", count: 32)), StoreIdentity(String(repeating: "2", count: 32))
    )

    @Test(
        "A store is taken for that of the rows if it is, if no rows name files of any, or if a person says so",
        arguments: [
            (case: "a fresh first start", rows: nil, hasRows: false, found: nil, isEmpty: true, is: StoreBinding.adopt),
            ("rows and blobs from before identities", nil, true, nil, false, .adopt),
            ("rows from before identities, and another worker was first", nil, true, one, false, .adopt),
            ("rows from before identities, whose store is gone", nil, true, nil, true, .mismatched),
            ("the same, and another partition was first to bind to what is there", nil, true, one, true, .mismatched),
            ("a fresh log over a store that is there", nil, false, one, false, .adopt),
            ("the store of the rows", one, true, one, false, .bound),
            ("the same, before anything was put", one, false, one, true, .bound),
            ("a folder that was made anew", one, true, nil, true, .mismatched),
            ("a folder without identity that holds something", one, true, nil, false, .mismatched),
            ("another cluster's store", one, true, other, false, .mismatched),
        ])
    func table(
        case: String, rows: StoreIdentity?, hasRows: Bool, found: StoreIdentity?, isEmpty: Bool,
        is binding: StoreBinding
    ) {
        func bound(isWhole: Bool = true, adopts: Bool) -> StoreBinding {
            StoreBinding(
                rows: rows, hasRows: hasRows, found: found, isEmpty: isEmpty, isWhole: isWhole, adopts: adopts)
        }
        #expect(bound(adopts: false) == binding)
        #expect(bound(adopts: true) == (binding == .bound ? .bound : .adopt))
        // With the originals of another, whatever rows there are.
        #expect(bound(isWhole: false, adopts: false) == .mismatched)
        #expect(bound(isWhole: false, adopts: true) == .adopt)
    }
}
