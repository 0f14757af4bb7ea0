/// Name of a topic for the command-line tools of its Kafka cluster.
package struct ToolTopic: Sendable, Hashable {
    package let bootstrap: String
    package let name: String

    package init(bootstrap: String, name: String) { (self.bootstrap, self.name) = (bootstrap, name) }
}
