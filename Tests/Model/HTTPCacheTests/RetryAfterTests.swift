import Clocks
import HTTPCache
import TestSupport
import Testing

@Suite("Retry-After", .timeLimit(.minutes(1)))
struct RetryAfterTests {
    /// 2026-11-22 16:00:00.
    private static let now: WallTime = 1_795_363_200_000
    private static let today = "Sun, 22 Nov 2026 "

    @Test(
        "Seconds and dates, at most a day; what means nothing is left out",
        arguments: [
            ("120", nil, 120_000), ("0", nil, nil), ("86400", nil, 86_400_000), ("86401", nil, 86_400_000),
            ("99999999999999999999999", nil, 86_400_000), ("-1", nil, nil), ("1.5", nil, nil), ("+5", nil, nil),
            ("never", nil, nil), ("", nil, nil), ("10 s", nil, nil),
            (today + "16:00:30 GMT", nil, 30_000), (today + "15:59:59 GMT", nil, nil),
            ("Fri, 31 Dec 9999 23:59:59 GMT", nil, 86_400_000), ("Sunday, 22-Nov-26 16:01:00 GMT", nil, 60_000),
            ("Sun Nov 22 16:00:02 2026", nil, 2_000), (today + "16:00:30 CET", nil, nil),
            // A clock that is an hour behind, and one that is an hour ahead.
            (today + "15:00:30 GMT", today + "15:00:00 GMT", 30_000),
            (today + "17:00:30 GMT", today + "17:00:00 GMT", 30_000),
            (today + "16:00:30 GMT", "yesterday", 30_000),
        ] as [(String, String?, Duration?)])
    func wait(value: String, date: String?, expected: Duration?) {
        #expect(RetryAfter.wait(value, date: date, now: Self.now) == expected)
    }
}
