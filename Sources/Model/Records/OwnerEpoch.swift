extension NewRecord {
    /// The row as an owner announces it: from a later epoch's first record on, nobody folds it.
    package func announced(in epoch: Int64) -> NewRecord {
        var record = self
        record.headers.append(EventHeader.epoch, "\(epoch)")
        return record
    }
}

extension Record {
    /// The epoch of the owner who announced it; nil for what no owner announced, whatever number that says.
    package var epoch: Int64? {
        // Rows come back by the hundred thousand: no text is made of it.
        headers.withFirst(EventHeader.epoch, Self.number) ?? nil
    }

    private static func number(_ digits: UnsafeRawBufferPointer) -> Int64? {
        var epoch: Int64 = 0
        for digit in digits {
            guard digit &- 48 < 10 else { return nil }
            let (tens, isOver) = epoch.multipliedReportingOverflow(by: 10)
            let (sum, isAbove) = tens.addingReportingOverflow(Int64(digit &- 48))
            if isOver || isAbove { return nil }
            epoch = sum
        }
        return digits.isEmpty || !RecordLimits.epochs.contains(epoch) ? nil : epoch
    }
}
