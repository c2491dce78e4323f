import type { MatchRecord } from '../../../integrations/matching/matching.types.ts';
import { type Judged, pairKey } from './judged.ts';

const MAKERS = [
  'Aurum',
  'Boreal',
  'Castell',
  'Delphi',
  'Ember',
  'Fathom',
  'Granit',
  'Halden',
  'Isar',
  'Juno',
];
const PARTS = [
  'Ledger',
  'Portal',
  'Gateway',
  'Archive',
  'Planner',
  'Monitor',
  'Register',
  'Broker',
  'Console',
];
const PLACES = ['Lisbon', 'Oslo', 'Vienna', 'Turin', 'Porto', 'Ghent', 'Malmö', 'Lyon', 'Graz', 'Cork'];
const USES = [
  'payroll',
  'billing',
  'claims',
  'orders',
  'stock',
  'freight',
  'pricing',
  'risk',
  'leave',
  'tenders',
];

/** Numbers in 0..1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Two lists of made-up systems as long as given, 80 % of which stand in both: written otherwise in the second, with words
 * dropped or put elsewhere, misspelt, or without their vendor.
 */
export function planted(records: number): Judged {
  const random = randomOf(7);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]!;
  const left: MatchRecord[] = [];
  const right: MatchRecord[] = [];
  const truth = new Set<string>();
  const make = (id: string): MatchRecord => ({
    id,
    values: {
      name: `${pick(MAKERS)} ${pick(PARTS)} ${pick(USES)} ${pick(PLACES)} ${Math.floor(random() * records)}`,
      vendor: `${pick(MAKERS)} ${pick(PLACES)} GmbH`,
      description: `${pick(PARTS)} for ${pick(USES)} and ${pick(USES)} in ${pick(PLACES)}, run by ${pick(MAKERS)}`,
    },
  });
  for (let at = 0; at < records; at++) {
    const record = make(`1:${at}`);
    left.push(record);
    const id = `2:${at}`;
    if (random() < 0.2) {
      right.push(make(id));
      continue;
    }
    truth.add(pairKey(record.id, id));
    const name = `${record.values.name}`.split(' ').filter(() => random() > 0.1);
    if (random() < 0.3) name.reverse();
    const spoilt = Math.floor(random() * name.length);
    if (random() < 0.3 && name[spoilt]) name[spoilt] = name[spoilt].slice(0, -1);
    right.push({
      id,
      values: {
        name: name.join(' ').toUpperCase(),
        vendor: random() < 0.2 ? null : `${record.values.vendor}`.replace(' GmbH', ''),
        description: random() < 0.3 ? null : record.values.description,
      },
    });
  }
  return {
    name: `Planted, ${records} records`,
    left,
    right,
    fields: [
      { name: 'name', kind: 'name' },
      { name: 'vendor', kind: 'name' },
      { name: 'description', kind: 'text' },
    ],
    truth,
  };
}
