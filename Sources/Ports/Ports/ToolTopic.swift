/// A topic as the command-line tools of its Kafka cluster name it.
package struct ToolTopic: Sendable, Hashable {
    package let bootstrap: String
    package let name: String

    package init(bootstrap: String, name: String) { (self.bootstrap, self.name) = (bootstrap, name) }
}
