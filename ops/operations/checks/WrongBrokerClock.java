import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;

/** A Java agent that sets Kafka's own clock wrong by so many milliseconds; the timers of its threads stay right. */
public final class WrongBrokerClock {
    private static long offset;

    public static long currentTimeMillis() { return System.currentTimeMillis() + offset; }

    public static long nanoTime() { return System.nanoTime(); }

    public static void premain(String milliseconds, Instrumentation machine) {
        offset = Long.parseLong(milliseconds);
        machine.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> of, ProtectionDomain domain, byte[] code) {
                if (!"org/apache/kafka/common/utils/SystemTime".equals(name)) return null;
                // The name of the class that it asks, for this one's, which is as long.
                String text = new String(code, StandardCharsets.ISO_8859_1);
                return text.replace("java/lang/System", "WrongBrokerClock").getBytes(StandardCharsets.ISO_8859_1);
            }
        });
    }
}
