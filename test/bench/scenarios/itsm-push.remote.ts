import { serverCertificate } from '../../emulators/certificates.ts';
import { startServiceNow } from '../../emulators/servicenow/server.ts';

/** A remote in a process of its own: `node itsm-push.remote.ts <requests a second> <write ms>`. */
const [limit = 0, write = 0] = process.argv.slice(2).map(Number);

const instance = await startServiceNow({ tls: serverCertificate, latency: { write } });
instance.rate.rule = { limit, windowMs: 1_000, retryAfter: true, headers: true };

process.on('message', (asked: { limit?: number }) => {
  if (asked.limit !== undefined) instance.rate.rule = { ...instance.rate.rule, limit: asked.limit };
  const answer = {
    now: instance.clock.now(),
    calls: instance.calls.map(({ at, status }) => ({ at, refused: status === 429 })),
  };
  instance.calls.length = 0;
  process.send!(answer);
});
process.on('disconnect', () => process.exit(0));
process.send!({ base: instance.base });
