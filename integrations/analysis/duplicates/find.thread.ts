import { createHash } from 'node:crypto';
import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { pack, unpack } from '../../../platform/pack.ts';
import type { Candidates, Neighbours } from '../matching/candidates.ts';
import { duplicatesOf, learnModel, modelWithDecisions } from '../matching/match.ts';
import type { Decision, MatchField, MatchModel, MatchPair } from '../matching/matching.types.ts';
import { modelId } from '../matching/models.ts';
import { finish } from '../matching/numbers.ts';
import { digestOf } from '../matching/records.ts';
import { type Snapshot, snapshotFrom, updatedSnapshot, type Work } from '../matching/snapshots.ts';
import {
  allNeighbours,
  allSimilarities,
  type Comparison,
  comparedOf,
  comparisonOf,
  pairsIn,
} from '../matching/stages.ts';
import type { Found, FoundPair, Packed, Stage } from './find.types.ts';

/** Candidates per record and space; more of them hardly find further duplicates. */
const NEIGHBOURS = 8;
/** Share of changed records above which a full search is as fast as an update. */
const MOST_CHANGED = 0.3;

/** The result of a stage, with a hash of its records. */
interface StageResult<T> {
  records: string;
  value: T;
}

/** The staged search among the records of one type; an interrupted search resumes from the stored results. */
export class Search {
  readonly #fields: readonly MatchField[];
  readonly #records: CardRecord[] = [];
  readonly #previous: Snapshot | undefined;
  #base: MatchModel | undefined;
  #comparison: Comparison | undefined;
  #print = '';
  #work: Work | undefined;
  #snapshot: Snapshot | undefined;
  #neighbours: Neighbours[] = [];
  #candidates: Candidates | undefined;
  #similarities: Float32Array[] = [];

  constructor(fields: readonly MatchField[], base: Packed | null, previous: Packed | null) {
    this.#fields = fields;
    this.#base = unpack<MatchModel>(base);
    this.#previous = this.#base && unpack<Snapshot>(previous);
  }

  add(records: readonly CardRecord[]): void {
    for (const record of records) this.#records.push(record);
  }

  /** Whether the last run with the model had the same records, so that its result is current. */
  same(): boolean {
    const previous = this.#previous;
    if (!previous || previous.ids.length !== this.#records.length) return false;
    const known = new Map(previous.ids.map((id, at) => [id, previous.digests[at]]));
    return this.#records.every((record) => known.get(record.id) === digestOf(record, this.#fields));
  }

  /** Executes a stage, or uses its stored result for the same records. */
  stage(stage: Stage, stored: Packed | null): Packed | null {
    if (stage === 'neighbours') this.#begin();
    const known = unpack<StageResult<unknown>>(stored);
    const value = known?.records === this.#print ? known.value : undefined;
    switch (stage) {
      case 'neighbours':
        return this.#near(value as Neighbours[] | undefined);
      case 'similarities':
        return this.#alike(value as Float32Array[] | undefined);
      case 'model':
        return this.#learned(value as MatchModel | undefined);
    }
  }

  #begin(): void {
    const comparison = comparisonOf(this.#records, null, this.#fields, this.#base, NEIGHBOURS);
    const hash = createHash('sha256').update(this.#base ? modelId(this.#base) : '');
    const digests = comparison.left.map((record) => digestOf(record, this.#fields));
    for (const [at, { id }] of comparison.left.entries()) hash.update(`${id} ${digests[at]}\n`);
    this.#print = hash.digest('base64url');
    this.#comparison = comparison;
    const previous = this.#previous;
    if (!this.#base || !previous || previous.model !== modelId(this.#base)) return;
    const known = new Map(previous.ids.map((id, at) => [id, previous.digests[at]]));
    const changed = comparison.left.filter(({ id }, at) => known.get(id) !== digests[at]).length;
    if (changed > MOST_CHANGED * comparison.left.length) return;
    const { snapshot, work } = finish(updatedSnapshot(previous, comparison, this.#base));
    this.#snapshot = snapshot;
    this.#work = work;
  }

  #near(known: Neighbours[] | undefined): Packed | null {
    if (this.#snapshot) return null;
    this.#neighbours = known ?? finish(allNeighbours(this.#comparison!));
    this.#candidates = pairsIn(this.#neighbours);
    return known ? null : this.#packed(this.#neighbours);
  }

  #alike(known: Float32Array[] | undefined): Packed | null {
    if (this.#snapshot) return null;
    this.#similarities = known ?? finish(allSimilarities(this.#comparison!, this.#candidates!));
    return known ? null : this.#packed(this.#similarities);
  }

  #learned(known: MatchModel | undefined): Packed | null {
    if (this.#base) return null;
    const compared = comparedOf(this.#comparison!, this.#candidates!, this.#similarities);
    this.#base = known ?? finish(learnModel(this.#comparison!, compared));
    return known ? null : this.#packed(this.#base);
  }

  #packed = (value: unknown): Packed => pack({ records: this.#print, value } satisfies StageResult<unknown>);

  /** The result of the model and the decisions. */
  result(decisions: readonly Decision[]): Found {
    const comparison = this.#comparison!;
    const base = this.#base!;
    const count = comparison.left.length;
    const snapshot =
      this.#snapshot ??
      snapshotFrom(comparison, base, this.#neighbours, this.#candidates!, this.#similarities);
    const work = this.#work ?? {
      changed: count,
      searched: count,
      compared: snapshot.candidates.left.length,
    };
    const model = modelWithDecisions(base, comparison, decisions);
    const { pairs, drift, compared } = duplicatesOf(comparison, snapshot, model, {}, work);
    const { fields, aspects, priorBits, exclusive, transitivity, learned } = model;
    const order = comparison.aspects.aspects.map(({ name }) => name);
    return {
      pairs: pairs.map(plain),
      base: pack(base),
      modelId: modelId(model),
      fields,
      weights: { order, aspects, priorBits, exclusive, transitivity, learned },
      snapshot: pack(snapshot),
      work,
      compared,
      drift,
    };
  }
}

const plain = ({ left, right, score, alone, class: verdict, evidence }: MatchPair): FoundPair => ({
  left,
  right,
  class: verdict === 'match' ? 'match' : 'possible',
  score,
  alone,
  similarities: evidence.map(({ similarity }) => similarity),
  bits: evidence.map(({ bits }) => bits),
});
