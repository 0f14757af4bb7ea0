/// A binary heap, least element first. It holds short waits, and outcomes ordered by the position that they wait for.
package struct Heap<Element: Comparable & Sendable>: Sendable {
    private var items: [Element] = []

    package init() {}

    package var count: Int { items.count }
    package var first: Element? { items.first }

    package func filter(_ isKept: (Element) -> Bool) -> Heap {
        var kept = Heap()
        for item in items where isKept(item) { kept.push(item) }
        return kept
    }

    package mutating func push(_ item: Element) {
        items.append(item)
        var i = items.count - 1
        while i > 0, items[i] < items[(i - 1) / 2] {
            items.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
    }

    package mutating func pop() -> Element? {
        guard let last = items.popLast() else { return nil }
        guard let first = items.first else { return last }
        items[0] = last
        var i = 0
        while true {
            let left = 2 * i + 1
            guard left < items.count else { return first }
            let least = left + 1 < items.count && items[left + 1] < items[left] ? left + 1 : left
            guard items[least] < items[i] else { return first }
            items.swapAt(i, least)
            i = least
        }
    }
}
