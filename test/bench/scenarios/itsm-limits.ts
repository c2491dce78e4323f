import { connectServiceNow } from '../../../integrations/exchange/itsm/connectors/servicenow/servicenow.ts';
import { type ServiceNowEmulator, startServiceNow } from '../../emulators/servicenow/server.ts';
import { memoryLimiterStore } from '../../support/memory-limiter.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';

const CHANGES = 5_000;
const LIMIT = 40;
const WORKERS = 8;
/** How long the pace is watched after the limit was halved, and how much of that it may take to follow, in seconds. */
const WATCHED = 20;
const FOLLOWS = 10;

/** Makes records from several workers until there are so many, or the time is up. @returns seconds. */
async function push(
  instance: ServiceNowEmulator,
  wanted: number,
  until = Number.POSITIVE_INFINITY,
): Promise<number> {
  const limits = memoryLimiterStore();
  const start = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    const remote = connectServiceNow({
      config: { url: instance.base, auth: { kind: 'basic', username: 'estate', password: 'secret' } },
      outboundAllow: ['127.0.0.1:*'],
      limits,
    });
    while (next < wanted && performance.now() - start < until) {
      next += 1;
      await remote.create('cmdb_ci_linux_server', { name: `host ${next}` }, `bench:${next}`);
    }
    await remote.close();
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return (performance.now() - start) / 1000;
}

async function run({ log }: Context): Promise<Row[]> {
  const rows: Row[] = [];
  for (const headers of [true, false]) {
    const told = headers ? 'told' : 'not told';
    const instance = await startServiceNow({ latency: { write: 50 } });
    instance.rate.rule = { limit: LIMIT, windowMs: 1_000, retryAfter: true, headers };
    log(`pushing at a limit of ${LIMIT} requests a second, ${told}`);
    const seconds = await push(instance, CHANGES);
    const refused = instance.calls.filter(({ status }) => status === 429).length;
    rows.push(under({ figure: `${CHANGES} changes, limit ${told}`, value: seconds, unit: 's' }, 140));
    rows.push(
      under(
        { figure: `refused, limit ${told}`, value: (refused / instance.calls.length) * 100, unit: '%' },
        1,
      ),
    );

    instance.calls.length = 0;
    const halve = setTimeout(() => {
      instance.rate.rule = { ...instance.rate.rule, limit: LIMIT / 2 };
    }, WATCHED * 1000);
    await push(instance, Number.POSITIVE_INFINITY, WATCHED * 2 * 1000);
    clearTimeout(halve);
    const from = instance.calls[0]!.at + (WATCHED + FOLLOWS) * 1000;
    const late = instance.calls.filter(({ at }) => at >= from);
    const span = (late.at(-1)!.at - from) / 1000;
    const pace = late.filter(({ status }) => status !== 429).length / span;
    rows.push(
      within(
        { figure: `pace after the limit was halved, ${told}`, value: pace, unit: '/s' },
        LIMIT * 0.4,
        LIMIT / 2 + 1,
      ),
    );
    await instance.close();
  }
  return rows;
}

/** How changes go out to a remote that lets only so many requests a second through. */
export const itsmLimits = { name: 'itsm-limits', run };
