import Planning
import TestSupport
import Testing
import VariantSpec

@Suite("Loss: what standing in is expected to cost", .timeLimit(.minutes(1)))
struct LossTableTests {
    private let table = LossTable(
        ratios: [1, 1.1, 1.5, 2, 3],
        rows: [
            LossTable.Row(.jpeg, 90, to: .jpeg, 80, [0, 3, 1, 2, nil]),
            LossTable.Row(.jpeg, 90, to: .jpeg, 90, [0, 6, 5, nil, nil]),
            LossTable.Row(.jpeg, 80, to: .jpeg, 100, [0, 8, 8, 8, 8]),
            LossTable.Row(.jpeg, 80, to: .jpeg, 80, [0, 7, 4, 3, 2]),
            LossTable.Row(.jpeg, 80, to: .webp, 80, [0, 5, 4, 3, 2]),
            LossTable.Row(.png, 0, to: .png, 0, [0, 9, 8, 7, 6]),
        ])

    @Test(
        "Between two measured ratios the worse counts; outside of them, and next to 1, nothing does",
        arguments: [
            (0.9, nil), (1, 0), (1.0001, nil), (1.09, nil), (1.1, 3), (1.2, 3), (1.5, 1), (1.6, 2), (2, 2), (2.1, nil),
            (3, nil), (4, nil),
        ] as [(Double, Double?)])
    func ratio(ratio: Double, loss: Double?) {
        #expect(table.loss(from: spec("1x1-q90.jpg"), to: spec("1x1-q80.jpg"), ratio: ratio) == loss)
    }

    @Test(
        "What was measured is what the table of formats says was, in both directions", arguments: ImageFormat.allCases)
    func measured(format: ImageFormat) {
        for table in [LossTable.photographs, .drawings] {
            let isKey = ImageFormat.written.contains { $0.output?.losses == format }
            #expect(table.rows.contains { $0.donor == format } == isKey)
            #expect(table.rows.contains { $0.wanted == format } == isKey)
        }
    }

    @Test(
        "A donor stands for its quality class, a wanted variant for the next above its own",
        arguments: [
            ("1x1-q100.jpg", "1x1-q10.jpg", 3), ("1x1-q95.jpg", "1x1-q80.jpg", 3), ("1x1-q90.jpg", "1x1-q81.jpg", 6),
            // The best class of the donor has no row for so good a variant: the next below does.
            ("1x1-q90.jpg", "1x1-q91.jpg", 8), ("1x1-q89.jpg", "1x1-q80.jpg", 7), ("1x1-q89.jpg", "1x1-q85.jpg", 8),
            ("1x1-q99.jpg", "1x1-q80.webp", 5), ("1x1-q99.jpg", "1x1-q81.webp", nil),
            ("1x1-q79.jpg", "1x1-q10.jpg", nil),
            ("1x1.png", "1x1.png", 9), ("1x1.png", "1x1-q80.jpg", nil), ("1x1-q99.webp", "1x1-q80.webp", nil),
        ] as [(String, String, Double?)])
    func quality(donor: String, wanted: String, loss: Double?) {
        #expect(table.loss(from: spec(donor), to: spec(wanted), ratio: 1.1) == loss)
    }

    @Test(
        "A measured table has a loss or none for each of its ratios, and never a gain",
        arguments: [LossTable.photographs, .drawings])
    func measured(table: LossTable) {
        #expect(table.ratios == table.ratios.sorted())
        for row in table.rows {
            #expect(row.losses.count == table.ratios.count)
            #expect(row.losses.allSatisfy { $0.map { $0 >= 0 } ?? true })
        }
    }
}
