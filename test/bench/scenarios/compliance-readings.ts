import { type ModelEmulator, startModels } from '../../emulators/openai.ts';
import { type Job, untilDone } from '../harness/api.ts';
import { connect } from '../harness/database.ts';
import { loadDirect } from '../harness/load-direct.ts';
import { sampleMemory } from '../harness/memory.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { prepareWorkspace } from '../harness/workspace.ts';

const MB = 1_000_000;
/** One card in so many is found to be what a question asks. */
const FOUND = 50;
/** As much as budgets may be. */
const PLENTY = { tokens_per_run: 1_000_000_000, tokens_per_day: 1_000_000_000, calls_per_day: 1_000_000 };

interface Card {
  id: string;
  name: string;
}

/** A model that says yes to some of the cards, in words that they say. */
const answer: ModelEmulator['answer'] = ({ data }) => ({
  cards: (data as { cards: Card[] }).cards.map(({ id, name }) => {
    const applies = Number.parseInt(id.slice(-4), 16) % FOUND === 0;
    return { id, applies, quote: applies ? name : null, reason: null };
  }),
});

async function run({ args, log }: Context): Promise<Row[]> {
  await using resources = new AsyncDisposableStack();
  const model = resources.adopt(await startModels(), (started) => started.close());
  model.answer = (asked, count) => {
    // what was asked would fill the memory of the bench
    model.asked.length = 0;
    return answer(asked, count);
  };
  const service = resources.adopt(await startService({ OUTBOUND_ALLOW: '127.0.0.1:*' }), (started) =>
    started.stop(),
  );
  const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
  await prepareWorkspace(client);
  await loadDirect(service.databaseUrl, args);
  await client.query('vacuum analyze');
  const { api } = service;
  const setUp = {
    enabled: true,
    provider_type: 'openai',
    provider_url: model.url,
    model: 'small',
    outgoing_fields: { '*': ['name', 'description', 'subtype', 'attributes.*'] },
  };
  await api.patch('/settings/ai', setUp);
  const scan = async (what: string) => {
    const begin = performance.now();
    const memory = sampleMemory([service.pid]);
    const { job_id, run_id } = await api.post<{ job_id: string; run_id: string }>('/compliance/scans', {});
    const job: Job = await untilDone(api, job_id);
    const { growthBytes } = memory.stop();
    const seconds = (performance.now() - begin) / 1_000;
    const { results, model_parts } = await api.get<{ results: object; model_parts: { calls: number }[] }>(
      `/ai-analysis/analysis-runs/${run_id}`,
    );
    const calls = model_parts.reduce((sum, part) => sum + part.calls, 0);
    log(`${what}: ${seconds.toFixed(1)} s, ${calls} questions, ${(growthBytes / MB).toFixed(0)} MB grown`);
    return { seconds, calls, growth: growthBytes / MB, counts: job.counts, results };
  };
  const bounded = await scan('within the budget');
  await api.patch('/settings/ai', PLENTY);
  const whole = await scan('all cards');
  const again = await scan('nothing changed');
  return [
    under({ figure: 'scan with a model, within the budget', value: bounded.seconds, unit: 's' }, 240),
    under({ figure: 'scan with a model, growth in memory', value: whole.growth, unit: 'MB' }, 500),
    under(
      { figure: 'scan with a model, a question', value: (1_000 * whole.seconds) / whole.calls, unit: 'ms' },
      100,
    ),
    within({ figure: 'scan with a model again, questions', value: again.calls, unit: '' }, 0, 0),
    under({ figure: 'scan with a model again', value: again.seconds, unit: 's', floor: whole.seconds }, 0.6),
  ];
}

/** What it costs to have a model read a large landscape: within the budget, all of it, and again where nothing has changed. */
export const complianceReadings = { name: 'compliance-readings', run, onlyNamed: true };
