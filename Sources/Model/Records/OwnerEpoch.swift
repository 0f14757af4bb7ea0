extension NewRecord {
    /// The row as its owner publishes it. Once a later epoch has written its first record, the row is ignored.
    package func announced(in epoch: Int64) -> NewRecord {
        var record = self
        record.headers.append(EventHeader.epoch, "\(epoch)")
        return record
    }
}

extension Record {
    /// Epoch of the owner that published the record; nil if no owner did, or if the header is not a valid epoch.
    package var epoch: Int64? {
        // Decoded without a string, because a restore reads rows by the hundred thousand.
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
