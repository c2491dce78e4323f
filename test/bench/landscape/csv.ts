import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { relationTypeSeeds } from '../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { benchAttributeKeys } from './attributes.ts';
import { type BenchCard, benchCards } from './cards.ts';
import { benchRelations } from './relations.ts';

const cardColumns = [
  ...['type', 'subtype', 'external_id', 'parent_external_id', 'name', 'alias', 'description', 'status'],
  ...lifecyclePhases.map((phase) => `lifecycle.${phase}`),
  ...benchAttributeKeys.map((key) => `attributes.${key}`),
  ...['tags', 'stakeholders'],
];

const relationAttributeKeys = [
  ...new Set(relationTypeSeeds.flatMap((type) => type.attributes_schema.map((attribute) => attribute.key))),
];

const relationColumns = [
  ...['type', 'source_external_id', 'target_external_id', 'description'],
  ...relationAttributeKeys.map((key) => `attributes.${key}`),
];

const cell = (value: unknown): string => (value === undefined ? '' : String(value));

const cardCells = (card: BenchCard): string[] => [
  card.type,
  cell(card.subtype),
  card.external_id,
  cell(card.parent_external_id),
  card.name,
  cell(card.alias),
  card.description,
  card.status,
  ...lifecyclePhases.map((phase) => cell(card.lifecycle?.[phase])),
  ...benchAttributeKeys.map((key) => cell(card.attributes[key])),
  (card.tags ?? []).join(';'),
  (card.stakeholders ?? []).join(';'),
];

async function writeRows(file: string, columns: string[], rows: Iterable<string[]>): Promise<void> {
  await pipeline(Readable.from(rows), stringify({ header: true, columns }), createWriteStream(file));
}

export type LandscapeFiles = { cardsFile: string; relationsFile: string };

export interface WriteLandscapeOptions {
  /** Folder to write to; made when it is not there. */
  out: string;
  cards: number;
  relations: number;
  seed: number;
}

/** Writes the bench landscape as `cards.csv` and `relations.csv`, in the form that the import takes. */
export async function writeLandscape({
  out,
  cards,
  relations,
  seed,
}: WriteLandscapeOptions): Promise<LandscapeFiles> {
  await mkdir(out, { recursive: true });
  const files = { cardsFile: path.join(out, 'cards.csv'), relationsFile: path.join(out, 'relations.csv') };
  await writeRows(files.cardsFile, cardColumns, benchCards({ cards, seed }).map(cardCells));
  await writeRows(
    files.relationsFile,
    relationColumns,
    benchRelations({ cards, relations, seed }).map((relation) => [
      relation.type,
      relation.source_external_id,
      relation.target_external_id,
      cell(relation.description),
      ...relationAttributeKeys.map((key) => cell(relation.attributes[key])),
    ]),
  );
  return files;
}
