internal import KafkaSetup
package import Records
package import Settings

extension Settings {
    /// Keys to sign and verify jobs; nil if `jobs.keys` is empty.
    package var jobKeys: JobKeys? {
        guard !jobs.keys.isEmpty else { return nil }
        let secrets = jobs.keys.compactMap { key in key.secret.map { (key.id, Array($0.revealed.utf8)) } }
        guard let keys = JobKeys(Dictionary(uniqueKeysWithValues: secrets), signing: jobs.signWith) else {
            // Never nil by mistake: then every job would be accepted.
            preconditionFailure("jobs.keys are used, and their problems were not asked for")
        }
        return keys
    }
}
