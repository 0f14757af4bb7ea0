internal import KafkaSetup
package import Records
package import Settings

extension Settings {
    /// What signs jobs and knows them again; nil where `jobs.keys` is empty.
    package var jobKeys: JobKeys? {
        let secrets = jobs.keys.compactMap { key in key.secret.map { (key.id, Array($0.revealed.utf8)) } }
        return JobKeys(Dictionary(uniqueKeysWithValues: secrets), signing: jobs.signWith)
    }
}
