import { parseArgs } from 'node:util';
import { writeLandscape } from './landscape/csv.ts';

/** Writes the bench landscape to files: `node test/bench/write-csv.ts --cards 100000 --out DIR`. */
const { values } = parseArgs({
  options: {
    cards: { type: 'string', default: '100000' },
    relations: { type: 'string' },
    seed: { type: 'string', default: '42' },
    out: { type: 'string', default: 'bench-data' },
  },
});
const cards = Number(values.cards);
const relations = values.relations === undefined ? cards * 3 : Number(values.relations);
const files = await writeLandscape({ out: values.out, cards, relations, seed: Number(values.seed) });
console.log(`${files.cardsFile}: ${cards} cards\n${files.relationsFile}: ${relations} relations`);
