import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { pack, unpack } from '../../../platform/pack.ts';
import { answerRequests } from '../../../platform/worker-threads.ts';
import { type DuplicatesResult, findDuplicatesInSteps } from '../matching/match.ts';
import type { MatchModel, MatchPair } from '../matching/matching.types.ts';
import { modelId } from '../matching/models.ts';
import { digestOf } from '../matching/records.ts';
import type { Snapshot } from '../matching/snapshots.ts';
import type { Progress } from '../matching/stages.ts';
import type { Found, FoundPair, SearchOptions, SearchRequest, SearchResponse } from './find.types.ts';

/** Candidates per record and space; more of them hardly find further duplicates. */
const NEIGHBOURS = 8;
/** Share of changed records above which a full search is as fast as an update. */
const MOST_CHANGED = 0.3;
/** Milliseconds between two reports of the progress. */
const REPORT_EVERY = 1_000;

/** The search among the records of one type. */
class Search {
  readonly #options: SearchOptions;
  readonly #base: MatchModel | undefined;
  readonly #previous: Snapshot | undefined;
  readonly #records: CardRecord[] = [];
  #steps: Generator<Progress, DuplicatesResult> | undefined;

  constructor(options: SearchOptions) {
    this.#options = options;
    const base = unpack<MatchModel>(options.base);
    this.#base = base && { ...base, vocabulary: options.vocabulary };
    this.#previous = this.#base && unpack<Snapshot>(options.previous);
  }

  add(records: readonly CardRecord[]): void {
    for (const record of records) this.#records.push(record);
  }

  /** Whether the last run with the model had the same records, so that its result is current. */
  isUnchanged(): boolean {
    return this.#previous?.ids.length === this.#records.length && this.#countChanged() === 0;
  }

  /** The number of records that are new or changed since the last run with the model. */
  #countChanged(): number {
    const previous = this.#previous!;
    const digests = new Map(previous.ids.map((id, at) => [id, previous.digests[at]]));
    return this.#records.filter((record) => digests.get(record.id) !== digestOf(record, this.#options.fields))
      .length;
  }

  /** Searches for about a second. @returns the progress (0 to 1), or the result. */
  advance(): Progress | Found {
    this.#steps ??= this.#start();
    const end = performance.now() + REPORT_EVERY;
    let step = this.#steps.next();
    while (!step.done && performance.now() < end) step = this.#steps.next();
    return step.done ? foundOf(step.value) : step.value;
  }

  #start(): Generator<Progress, DuplicatesResult> {
    const { fields, decisions, vocabulary } = this.#options;
    const model = this.#base;
    const canUpdate = this.#previous && this.#countChanged() <= MOST_CHANGED * this.#records.length;
    return findDuplicatesInSteps(this.#records, {
      fields,
      decisions,
      neighbours: NEIGHBOURS,
      vocabulary,
      ...(model && { model }),
      ...(canUpdate && { previous: this.#previous }),
    });
  }
}

function foundOf({ pairs, base, order, model, ...rest }: DuplicatesResult): Found {
  const { fields, aspects, priorBits, exclusive, transitivity, learned } = model;
  return {
    pairs: pairs.map(plain),
    base: pack(base),
    modelId: modelId(model),
    fields,
    weights: { order, aspects, priorBits, exclusive, transitivity, learned },
    snapshot: pack(rest.snapshot),
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
      search = new Search(request.options);
      return { done: true };
    case 'records':
      search!.add(request.records);
      return { done: true };
    case 'compare':
      return { isUnchanged: search!.isUnchanged() };
    case 'advance': {
      const step = search!.advance();
      return typeof step === 'number' ? { progress: step } : { found: step };
    }
  }
}
