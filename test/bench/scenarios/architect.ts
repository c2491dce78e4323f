import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const ROUNDS = 3;
/** Capabilities that one session is about. */
const CHOSEN = 20;

async function run({ service, client, unit, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const { api } = service;
  const floor = await unit();
  const { rows } = await client.query<{ id: string }>(
    `select c.id from cards c join relations r on r.target_id = c.id
     where c.type = 'BusinessCapability' and c.status = 'ACTIVE' group by c.id order by count(*) desc, c.id limit $1`,
    [CHOSEN],
  );
  const { rows: names } = await client.query<{ name: string }>(
    `select name from cards where type = 'BusinessCapability' and status = 'ACTIVE' order by id limit 1`,
  );
  const widest = { selectedCapabilities: rows, selectedOption: { id: 'buy' } };
  const timed = async (phase: string, body: object): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const start = performance.now();
      const answer = await api.post(`/ai-analysis/architect/${phase}`, body);
      times.push(performance.now() - start);
      if (round === 0) log(`${phase}: ${Math.round(JSON.stringify(answer).length / 1000)} kB`);
    }
    return median(times);
  };
  const row = (figure: string, value: number) => under({ figure, value, unit: 'ms', floor }, 0.6);
  return [
    row('questions', await timed('phase1', widest)),
    row('gaps', await timed('phase3/gaps', widest)),
    row('options', await timed('phase3/options', widest)),
    row('dependencies', await timed('phase3/deps', widest)),
    row('target architecture', await timed('phase3', widest)),
    row('capabilities meant by a requirement', await timed('phase1', { requirement: names[0]!.name })),
  ];
}

/** What the phases of a target architecture cost for the capabilities of the most applications, in the unit U. */
export const architect = { name: 'architect', run };
