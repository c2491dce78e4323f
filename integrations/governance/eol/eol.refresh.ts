import { InvalidFacts, readProduct, readProductNames } from '../../../domain/governance/eol/eol.document.ts';
import {
  confirmFacts,
  knownProducts,
  type ReceivedFacts,
  saveFacts,
} from '../../../domain/governance/eol/eol.facts.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { JobCounts, JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { EstateError } from '../../../platform/errors.ts';
import { createEolClient, type EolClient, type EolResponse, type RetryPolicy } from './eol.client.ts';

/** Products per transaction, and maximum concurrent requests. */
const BATCH = 20;
const AT_ONCE = 4;
/** Maximum number of failed products in the job's result. */
const MOST_NAMED = 50;

const defaultPolicy: RetryPolicy = { timeoutMs: 20_000, attempts: 3, pauseMs: 1_000, longestWaitMs: 60_000 };

/** Checkpoint of a run; products are read in the order of their names. */
interface Checkpoint {
  after: string;
  failed: string[];
}

const upstreamFailed = (reason: string) =>
  new EstateError('upstream_failed', `The source of product data failed: ${reason}.`);

/**
 * Reads the data of all changed products of the source and stores it in batches. Products that cannot be read retain their
 * data and are listed in the result; if the source does not respond at all, the run ends and resumes later.
 * @throws EstateError `upstream_failed`.
 */
export async function refreshFacts(
  job: RunningJob,
  { outbound, db }: Services,
  retryPolicy: RetryPolicy = defaultPolicy,
): Promise<JobResult> {
  const source = await readSetting(db, 'eol_source');
  if (source === '')
    return { message: 'No source is configured; product data is unchanged.', counts: { products: 0 } };
  const client = createEolClient(outbound, source, retryPolicy, job.signal);
  const names = await readNames(client);
  const { after, failed } = (job.resume ?? { after: '', failed: [] }) as Checkpoint;
  const counts: JobCounts = {
    changed: 0,
    unchanged: 0,
    missing: 0,
    failed: 0,
    ...job.counts,
    products: names.length,
  };
  let done = names.filter((name) => name <= after).length;
  for (let from = done; from < names.length; from = done) {
    const batch = names.slice(from, from + BATCH);
    const readings = await readBatch(db, client, batch);
    const outcomes = [...readings.values()];
    // the batch is read again when the run resumes
    if (outcomes.some((outcome) => 'rateLimited' in outcome)) throw upstreamFailed('it is rate limited');
    if (batch.length >= AT_ONCE && outcomes.every(({ status }) => status === 'failed')) {
      throw upstreamFailed(reasonIn(readings));
    }
    await storeBatch(job, readings, counts, failed, (done + batch.length) / names.length);
    done += batch.length;
  }
  const result = { source: new URL(source).origin, ...counts, failed_products: failed };
  return { counts, message: messageOf(counts), result };
}

function messageOf({ products, changed, failed }: JobCounts): string {
  const read = `${changed} of ${products} products have new data`;
  return failed ? `${read}; ${failed} could not be read and are unchanged` : read;
}

async function readNames(client: EolClient): Promise<string[]> {
  const response = await client.read('/products');
  if (response.status !== 'read') {
    throw upstreamFailed(response.status === 'failed' ? response.reason : 'it has no list of products');
  }
  try {
    return [...new Set(readProductNames(response.document))].sort();
  } catch (error) {
    if (error instanceof InvalidFacts) throw upstreamFailed(error.message);
    throw error;
  }
}

const reasonIn = (readings: Map<string, Outcome>): string => {
  const first = [...readings.values()].find((response) => response.status === 'failed');
  return first?.status === 'failed' ? first.reason : 'no product could be read';
};

type Outcome = Exclude<EolResponse, { status: 'read' }> | { status: 'facts'; received: ReceivedFacts };

async function readBatch(
  db: Services['db'],
  client: EolClient,
  names: string[],
): Promise<Map<string, Outcome>> {
  const known = await knownProducts(db, names);
  const outcomes = new Map<string, Outcome>();
  const waiting = [...names];
  const readNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const response = await client.read(`/products/${encodeURIComponent(name)}`, known.get(name));
      outcomes.set(name, outcomeOf(name, response));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return outcomes;
}

function outcomeOf(name: string, response: EolResponse): Outcome {
  if (response.status !== 'read') return response;
  try {
    const facts = readProduct((response.document as { result?: unknown } | null)?.result, 'result');
    if (facts.name !== name) return { status: 'failed', reason: 'the response is about another product' };
    const { etag, lastModified } = response;
    return { status: 'facts', received: { facts, etag, lastModified } };
  } catch (error) {
    if (error instanceof InvalidFacts) return { status: 'failed', reason: error.message };
    throw error;
  }
}

/** Stores a batch with the checkpoint; updates counts and names of failed products. */
async function storeBatch(
  job: RunningJob,
  readings: Map<string, Outcome>,
  counts: JobCounts,
  failed: string[],
  progress: number,
): Promise<void> {
  const withStatus = (status: Outcome['status']) =>
    [...readings].filter(([, response]) => response.status === status).map(([name]) => name);
  const received = [...readings.values()].flatMap((response) =>
    response.status === 'facts' ? [response.received] : [],
  );
  const last = [...readings.keys()].sort().at(-1)!;
  const failedNow = [...failed, ...withStatus('failed').sort()].slice(0, MOST_NAMED);
  const added = await command(job.ctx, async (work) => {
    const saved = await saveFacts(work, received, 'api');
    await confirmFacts(work.sql, withStatus('unchanged'));
    const now: JobCounts = {
      ...counts,
      changed: counts.changed! + saved.changed.length,
      unchanged: counts.unchanged! + saved.unchanged.length + withStatus('unchanged').length,
      missing: counts.missing! + withStatus('missing').length,
      failed: counts.failed! + withStatus('failed').length,
    };
    const checkpoint: Checkpoint = { after: last, failed: failedNow };
    await job.checkpoint(work, { progress, counts: now, checkpoint });
    return now;
  });
  Object.assign(counts, added);
  failed.splice(0, failed.length, ...failedNow);
}
