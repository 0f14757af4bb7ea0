import ImageModel
import Planning
import TestSupport
import Testing

@Suite("Loss: what standing in is expected to cost", .timeLimit(.minutes(1)))
struct LossTableTests {
    private let table = LossTable(
        ratios: [1.1, 1.5, 2, 3],
        rows: [
            LossTable.Row(donor: .jpeg, quality: 90, wanted: 80, losses: [3, 1, 2, nil]),
            LossTable.Row(donor: .jpeg, quality: 90, wanted: 90, losses: [6, 5, nil, nil]),
            LossTable.Row(donor: .jpeg, quality: 80, wanted: 80, losses: [7, 4, 3, 2]),
            LossTable.Row(donor: .png, quality: 0, wanted: 101, losses: [9, 8, 7, 6]),
        ])

    @Test(
        "Between two measured ratios the worse counts; outside of them nothing does",
        arguments: [
            (1.0, nil), (1.09, nil), (1.1, 3), (1.2, 3), (1.5, 1), (1.6, 2), (2, 2), (2.1, nil), (3, nil), (4, nil),
        ] as [(Double, Double?)])
    func ratio(ratio: Double, loss: Double?) {
        #expect(table.loss(from: spec("1x1-q90.jpg"), to: spec("1x1-q80.jpg"), ratio: ratio) == loss)
    }

    @Test(
        "A donor stands for its quality class, a wanted variant for the next above its own",
        arguments: [
            ("1x1-q100.jpg", "1x1-q10.jpg", 3), ("1x1-q95.jpg", "1x1-q80.webp", 3), ("1x1-q90.jpg", "1x1-q81.jpg", 6),
            ("1x1-q90.jpg", "1x1-q91.jpg", nil), ("1x1-q89.jpg", "1x1-q80.jpg", 7), ("1x1-q89.jpg", "1x1-q85.jpg", nil),
            ("1x1-q79.jpg", "1x1-q10.jpg", nil), ("1x1.png", "1x1.png", 9), ("1x1.png", "1x1-q100.webp", 9),
            ("1x1-q99.webp", "1x1-q80.webp", nil),
        ] as [(String, String, Double?)])
    func quality(donor: String, wanted: String, loss: Double?) {
        #expect(table.loss(from: spec(donor), to: spec(wanted), ratio: 1.1) == loss)
    }

    @Test("The measured table has a loss or none for each of its ratios, and never a gain")
    func measured() {
        let table = LossTable.measured
        #expect(table.ratios == table.ratios.sorted())
        for row in table.rows {
            #expect(row.losses.count == table.ratios.count)
            #expect(row.losses.allSatisfy { $0.map { $0 >= 0 } ?? true })
        }
    }
}
