import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { pack, unpack } from '../../../platform/pack.ts';
import { type Scratch, ScratchFile } from '../../../platform/scratch-file.ts';
import { answerRequests } from '../../../platform/worker-threads.ts';
import { type DuplicatesResult, findDuplicatesInSteps } from '../matching/match.ts';
import type { MatchModel, MatchPair } from '../matching/matching.types.ts';
import { modelId } from '../matching/models.ts';
import type { PartedList } from '../matching/parts.compare.ts';
import { findDuplicatesInParts, listDigest } from '../matching/parts.ts';
import { digestOf } from '../matching/records.ts';
import { packSnapshot, type Snapshot, unpackSnapshot } from '../matching/snapshots.ts';
import type { Progress } from '../matching/stages.ts';
import type {
  Found,
  FoundPair,
  SearchLimits,
  SearchOptions,
  SearchRequest,
  SearchResponse,
} from './find.types.ts';

/** Candidates per record and space; more of them hardly find further duplicates. */
const NEIGHBOURS = 8;
/** Share of changed records above which a full search is as fast as an update. */
const MOST_CHANGED = 0.3;
/** Milliseconds between two reports of the progress. */
const REPORT_EVERY = 1_000;
/** Pairs of one response: reading it does not block the main thread. */
const PAIRS_AT_ONCE = 1_000;

const LIMITS: SearchLimits = { atOnce: 130_000, part: 60_000 };

const CHARACTERS = 1_000;

/** The share of the limits that a card takes: 1, and more with long texts. */
const sizeOf = ({ values }: CardRecord): number => 1 + Math.floor(JSON.stringify(values).length / CHARACTERS);

/** The search among the records of one type. */
class Search {
  readonly #options: SearchOptions;
  readonly #base: MatchModel | undefined;
  #previous: Snapshot | undefined;
  #records: CardRecord[] = [];
  /** Of `records`. */
  #size = 0;
  #steps: Generator<Progress, DuplicatesResult> | undefined;
  #pairs: MatchPair[] = [];
  /** Set if there are more than can be compared at once. */
  #parts: StoredParts | undefined;

  constructor(options: SearchOptions) {
    this.#options = { ...options, base: null, previous: null };
    const base = unpack<MatchModel>(options.base);
    this.#base = base && { ...base, vocabulary: options.vocabulary };
    this.#previous = this.#base && unpackSnapshot(options.previous);
  }

  /** Adds records in the order of their ids. */
  add(records: readonly CardRecord[]): void {
    const { atOnce, part } = this.#options.limits ?? LIMITS;
    for (const record of records) {
      const size = sizeOf(record);
      if (this.#parts && this.#size + size > part) this.#endPart();
      this.#records.push(record);
      this.#size += size;
    }
    if (this.#parts || this.#size <= atOnce) return;
    this.#parts = new StoredParts();
    const all = this.#records.splice(0);
    this.#size = 0;
    this.add(all);
  }

  #endPart(): void {
    if (this.#records.length > 0) this.#parts!.add(this.#records.splice(0));
    this.#size = 0;
  }

  /** Whether the last run with the model had the same records, so that its result is current. */
  isUnchanged(): boolean {
    const parts = this.#allParts();
    const previous = this.#previous;
    if (!parts)
      return previous?.digests.length === this.#records.length && this.#countChanged(previous) === 0;
    return previous?.ids.length === 0 && previous.digests[0] === listDigest(parts, this.#options.fields);
  }

  /** Ends the search. */
  close(): void {
    this.#parts?.close();
  }

  #allParts(): StoredParts | undefined {
    if (this.#parts) this.#endPart();
    return this.#parts;
  }

  /** The number of records that are new or changed since the last run with the model. */
  #countChanged(previous: Snapshot): number {
    const digests = new Map(previous.ids.map((id, at) => [id, previous.digests[at]]));
    return this.#records.filter((record) => digests.get(record.id) !== digestOf(record, this.#options.fields))
      .length;
  }

  /** Searches for about a second. @returns the progress (0 to 1), or the result. */
  advance(): Progress | Omit<Found, 'pairs'> {
    this.#steps ??= this.#start();
    const end = performance.now() + REPORT_EVERY;
    let step = this.#steps.next();
    while (!step.done && performance.now() < end) step = this.#steps.next();
    if (!step.done) return step.value;
    this.#steps = undefined;
    this.#pairs = step.value.pairs;
    return foundOf(step.value);
  }

  /** Some of the found pairs, in order. */
  pairs(from: number): FoundPair[] {
    return this.#pairs.slice(from, from + PAIRS_AT_ONCE).map(plain);
  }

  #start(): Generator<Progress, DuplicatesResult> {
    const { fields, decisions, vocabulary } = this.#options;
    const model = this.#base;
    const options = { fields, decisions, neighbours: NEIGHBOURS, vocabulary, ...(model && { model }) };
    const parts = this.#allParts();
    const previous = this.#previous;
    this.#previous = undefined;
    if (parts) return findDuplicatesInParts(parts, options, parts.file);
    const canUpdate = previous && this.#countChanged(previous) <= MOST_CHANGED * this.#records.length;
    return findDuplicatesInSteps(() => this.#records.splice(0), {
      ...options,
      ...(canUpdate && { previous }),
    });
  }
}

/** Records in a scratch file. */
class StoredParts implements PartedList {
  readonly file = new ScratchFile();
  readonly counts: number[] = [];
  readonly #parts: Scratch<CardRecord[]>[] = [];

  add(records: CardRecord[]): void {
    this.counts.push(records.length);
    this.#parts.push(this.file.put(records));
  }

  read(part: number): CardRecord[] {
    return this.file.get(this.#parts[part]!);
  }

  close(): void {
    this.file.close();
  }
}

function foundOf({ base, order, model, ...rest }: DuplicatesResult): Omit<Found, 'pairs'> {
  const { fields, aspects, priorBits, exclusive, transitivity, learned } = model;
  return {
    base: pack(base),
    modelId: modelId(model),
    fields,
    weights: { order, aspects, priorBits, exclusive, transitivity, learned },
    snapshot: packSnapshot(rest.snapshot),
    work: rest.work,
    compared: rest.compared,
    drift: rest.drift,
  };
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

let search: Search | undefined;

/** Worker thread of the search. The main thread renews the job's lease and can cancel the search at any time. */
answerRequests(responseTo, (response: SearchResponse) =>
  'found' in response ? [response.found.base.buffer, response.found.snapshot.buffer] : [],
);

function responseTo(request: SearchRequest): SearchResponse {
  switch (request.request) {
    case 'start':
      search?.close();
      search = new Search(request.options);
      return { done: true };
    case 'records':
      search!.add(request.records);
      return { done: true };
    case 'compare':
      return { isUnchanged: search!.isUnchanged() };
    case 'pairs':
      return { pairs: search!.pairs(request.from) };
    case 'advance': {
      const step = search!.advance();
      return typeof step === 'number' ? { progress: step } : { found: step };
    }
  }
}
