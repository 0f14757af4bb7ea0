internal import CRdkafka
internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

extension KafkaQuestions {
    /// All members of the group, including members that died recently.
    ///
    /// - Parameter limit: time limit for the coordinator; nil: `kafka.timing.response`.
    func members(within limit: Duration? = nil) throws(LogFailure) -> [LogMember] {
        let deadline = SystemTime.monotonic + (limit ?? configuration.timing.response)
        while true {
            let left = max(.milliseconds(1), deadline - SystemTime.monotonic)
            do throws(LogFailure) { return try membersOnce(within: left) } catch {
                // A starting coordinator loads its groups first, and a replaced one reports the same error.
                guard case .unavailable = error, SystemTime.monotonic < deadline else { throw error }
                usleep(50_000)
            }
        }
    }

    private func membersOnce(within limit: Duration) throws(LogFailure) -> [LogMember] {
        let fingerprint = configuration.name(.fingerprint)
        var members: [LogMember] = []
        try describeMembers(within: limit) { member in
            let name = MemberName(clientID: String(cString: rd_kafka_MemberDescription_client_id(member)))
            let assignment = rd_kafka_MemberDescription_assignment(member)
            let list = assignment.flatMap { rd_kafka_MemberAssignment_partitions($0) }
            let held = list.map { PartitionList.partitions($0, of: fingerprint) } ?? []
            members.append(
                LogMember(
                    id: String(cString: rd_kafka_MemberDescription_consumer_id(member)),
                    client: name.worker,
                    host: String(String(cString: rd_kafka_MemberDescription_host(member)).drop { $0 == "/" }),
                    partitions: held.map { PartitionID($0) }, partitionsUsed: name.partitions))
        }
        return members
    }

    private func describeMembers(
        within limit: Duration, _ body: (OpaquePointer) -> Void
    ) throws(LogFailure) {
        let group = try cString(configuration.group)
        defer { group.deallocate() }
        var groups: [UnsafePointer<CChar>?] = [UnsafePointer(group)]
        let event = try ask(
            RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, "group \(configuration.group)", within: limit
        ) {
            handle, options, queue in
            rd_kafka_DescribeConsumerGroups(handle, &groups, 1, options, queue)
        }
        var count = 0
        guard let described = rd_kafka_DescribeConsumerGroups_result_groups(event.pointer, &count), count == 1,
            let group = described[0]
        else { return }
        if let error = rd_kafka_ConsumerGroupDescription_error(group) {
            forgetCoordinator()
            throw LogFailure(
                rd_kafka_error_code(error),
                reason: "group \(configuration.group): \(String(cString: rd_kafka_error_string(error)))")
        }
        for index in 0..<rd_kafka_ConsumerGroupDescription_member_count(group) {
            if let member = rd_kafka_ConsumerGroupDescription_member(group, index) { body(member) }
        }
    }

    /// Creates topics; existing ones stay as they are. Returns the failures by topic name.
    func create(_ plans: [TopicPlan]) throws(LogFailure) -> [String: String] {
        var failures: [String: String] = [:]
        for batch in TopicPlan.batches(plans) { failures.merge(try createAtOnce(batch)) { $1 } }
        return failures
    }

    private func createAtOnce(_ plans: [TopicPlan]) throws(LogFailure) -> [String: String] {
        var new: [OpaquePointer?] = []
        defer { for topic in new { rd_kafka_NewTopic_destroy(topic) } }
        for plan in plans {
            let (topic, text) = withErrorText {
                rd_kafka_NewTopic_new(plan.name, Int32(plan.partitions), Int32(plan.replication), $0, $1)
            }
            guard let topic else { throw .misconfigured(problems: ["\(plan.name): \(text)."]) }
            for setting in plan.settings { rd_kafka_NewTopic_set_config(topic, setting.name, setting.value) }
            new.append(topic)
        }
        let event = try ask(RD_KAFKA_ADMIN_OP_CREATETOPICS, "creating topics") { handle, options, queue in
            rd_kafka_CreateTopics(handle, &new, new.count, options, queue)
        }
        var count = 0
        let results = rd_kafka_CreateTopics_result_topics(event.pointer, &count)
        return Self.failures(results, count, besides: RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    }

    /// Removes topics. Returns the failures by topic name.
    func delete(_ names: [String]) throws(LogFailure) -> [String: String] {
        var old: [OpaquePointer?] = names.map { rd_kafka_DeleteTopic_new($0) }
        defer { for topic in old { rd_kafka_DeleteTopic_destroy(topic) } }
        let event = try ask(RD_KAFKA_ADMIN_OP_DELETETOPICS, "removing topics") { handle, options, queue in
            rd_kafka_DeleteTopics(handle, &old, old.count, options, queue)
        }
        var count = 0
        let results = rd_kafka_DeleteTopics_result_topics(event.pointer, &count)
        return Self.failures(results, count, besides: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    }

    /// Deletes the group. A group that has members, or does not exist, stays as it is.
    func deleteGroup() throws(LogFailure) {
        var group = rd_kafka_DeleteGroup_new(configuration.group)
        defer { rd_kafka_DeleteGroup_destroy(group) }
        _ = try ask(RD_KAFKA_ADMIN_OP_DELETEGROUPS, "removing group \(configuration.group)") { handle, options, queue in
            rd_kafka_DeleteGroups(handle, &group, 1, options, queue)
        }
    }

    /// Errors by topic; results with the harmless error are left out.
    private static func failures(
        _ results: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int, besides harmless: rd_kafka_resp_err_t
    ) -> [String: String] {
        var failures: [String: String] = [:]
        for index in 0..<count {
            guard let result = results?[index] else { continue }
            let error = rd_kafka_topic_result_error(result)
            if error.isNone || error == harmless { continue }
            let text = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
            failures[String(cString: rd_kafka_topic_result_name(result))] =
                text ?? String(cString: rd_kafka_err2str(error))
        }
        return failures
    }

    /// The settings of topics, by topic and name. If a broker does not know a new topic yet, the request is repeated
    /// within `kafka.timing.response`.
    func settings(of topics: [String]) throws(LogFailure) -> [String: [String: String]] {
        let deadline = SystemTime.monotonic + configuration.timing.response
        while true {
            var unknown: String?
            let all = try settings(of: topics, unknown: &unknown)
            guard let unknown else { return all }
            guard SystemTime.monotonic < deadline else {
                throw LogFailure(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "the settings of \(unknown)")
            }
            usleep(20_000)
        }
    }

    /// - Parameter unknown: set to a topic that the broker does not know.
    private func settings(
        of topics: [String], unknown: inout String?
    ) throws(LogFailure) -> [String: [String: String]] {
        var resources: [OpaquePointer?] = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
        defer { for resource in resources { rd_kafka_ConfigResource_destroy(resource) } }
        let event = try ask(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, "the settings of topics") { handle, options, queue in
            rd_kafka_DescribeConfigs(handle, &resources, resources.count, options, queue)
        }
        var count = 0
        var all: [String: [String: String]] = [:]
        let described = rd_kafka_DescribeConfigs_result_resources(event.pointer, &count)
        for index in 0..<count {
            guard let resource = described?[index] else { continue }
            let topic = String(cString: rd_kafka_ConfigResource_name(resource))
            let error = rd_kafka_ConfigResource_error(resource)
            if error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART {
                unknown = topic
                continue
            }
            try error.check("the settings of \(topic)")
            var entryCount = 0
            let entries = rd_kafka_ConfigResource_configs(resource, &entryCount)
            for entry in 0..<entryCount {
                guard let entry = entries?[entry], let value = rd_kafka_ConfigEntry_value(entry) else { continue }
                all[topic, default: [:]][String(cString: rd_kafka_ConfigEntry_name(entry))] = String(cString: value)
            }
        }
        return all
    }

    /// Sends one request of librdkafka's admin interface and returns its result event.
    private func ask(
        _ operation: rd_kafka_admin_op_t, _ subject: String, within limit: Duration? = nil,
        _ request: (_ handle: OpaquePointer, _ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
    ) throws(LogFailure) -> KafkaEvent {
        let wait = limit ?? configuration.timing.response
        let isOfCoordinator =
            operation == RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS || operation == RD_KAFKA_ADMIN_OP_DELETEGROUPS
        let answer =
            isOfCoordinator
            ? Self.answer(
                of: try coordinatorAsker(), operation, within: Self.longest, waiting: wait, request)
            : Self.answer(of: client, operation, within: wait, waiting: wait + .seconds(2), request)
        guard let event = answer else {
            if isOfCoordinator { forgetCoordinator() }
            throw .unavailable(reason: "\(subject): no response within \(wait.components.seconds) s")
        }
        if !event.error.isNone { throw LogFailure(event.error, reason: "\(subject): \(event.text)") }
        return event
    }

    /// Longest time limit that librdkafka accepts. Our own wait for a coordinator is shorter (`coordinatorAsker`).
    private static let longest = Duration.hours(1)

    /// Sends one request and waits for its result; nil if no result came.
    ///
    /// - Parameters:
    ///   - limit: how long librdkafka tries.
    ///   - wait: how long this call waits for the result.
    private static func answer(
        of client: KafkaClient, _ operation: rd_kafka_admin_op_t, within limit: Duration, waiting wait: Duration,
        _ request: (OpaquePointer, OpaquePointer?, OpaquePointer?) -> Void
    ) -> KafkaEvent? {
        let options = rd_kafka_AdminOptions_new(client.handle, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        _ = withErrorText { rd_kafka_AdminOptions_set_request_timeout(options, limit.kafka, $0, $1) }
        if operation == RD_KAFKA_ADMIN_OP_CREATETOPICS {
            // Waits until the controller has applied the request.
            _ = withErrorText { rd_kafka_AdminOptions_set_operation_timeout(options, limit.kafka, $0, $1) }
        }
        let queue = rd_kafka_queue_new(client.handle)
        defer { rd_kafka_queue_destroy(queue) }
        request(client.handle, options, queue)
        return queue.flatMap { KafkaEvent(from: $0, of: client, waiting: wait) }
    }

    private func cString(_ text: String) throws(LogFailure) -> UnsafeMutablePointer<CChar> {
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: byte) }
        return copy
    }
}
