import { atLeast, type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { percentile } from '../harness/stats.ts';
import { mulberry32, type Random } from '../landscape/random.ts';

const QUERIES = 200;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** The text with one letter dropped, added, changed or swapped with its neighbour. */
function misspell(text: string, random: Random): string {
  for (;;) {
    const at = Math.floor(random() * text.length);
    const letter = LETTERS[Math.floor(random() * LETTERS.length)]!;
    const before = text.slice(0, at);
    const after = text.slice(at + 1);
    const typo = [
      before + after,
      before + letter + text.slice(at),
      before + letter + after,
      before + after.slice(0, 1) + text[at] + after.slice(1),
    ][Math.floor(random() * 4)]!;
    if (typo !== text) return typo;
  }
}

async function run({ service, client, unit, args, loadLandscape }: Context): Promise<Row[]> {
  await loadLandscape();
  const floor = await unit();
  const { rows } = await client.query<{ id: string; name: string }>(
    `select id, name from cards where status = 'ACTIVE' order by md5(id::text) limit $1`,
    [QUERIES],
  );
  const random = mulberry32(args.seed);
  const ask = async (text: string) => {
    const query = new URLSearchParams({ search: text, page_size: '10', fields: 'id,name' });
    return await service.api.get<{ items: { id: string }[] }>(`/cards?${query}`);
  };
  // as any service in use has done: connections and their prepared queries are there
  for (const { name } of rows.slice(0, QUERIES / 4)) await ask(name);
  const times: number[] = [];
  let found = 0;
  for (const { id, name } of rows) {
    const text = misspell(name, random);
    const start = performance.now();
    const { items } = await ask(text);
    times.push(performance.now() - start);
    if (items.some((item) => item.id === id)) found += 1;
  }
  return [
    under({ figure: 'search, p50', value: percentile(times, 0.5), unit: 'ms', floor }, 0.03),
    under({ figure: 'search, p99', value: percentile(times, 0.99), unit: 'ms', floor }, 0.15),
    atLeast({ figure: 'search, right card of ten', value: (found / rows.length) * 100, unit: '%' }, 95),
  ];
}

/** How fast a search with one typo answers, and how often it finds the card that was meant. */
export const search = { name: 'search', run };
