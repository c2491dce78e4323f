import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { QuestionCursor } from './question.cursor.ts';
import type { QuestionDraft } from './question.draft.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import { lookUp, type Meaning, type Vocabulary } from './question.vocabulary.ts';

export type FieldMeaning = Extract<Meaning, { kind: 'field' }>;
export type OptionMeaning = Extract<Meaning, { kind: 'option' }>;

/** Consumes names of the metamodel that are valid for the types of the question. */
export class QuestionNames {
  readonly #vocabulary: Vocabulary;
  readonly #cursor: QuestionCursor;
  readonly #draft: QuestionDraft;

  constructor(vocabulary: Vocabulary, cursor: QuestionCursor, draft: QuestionDraft) {
    this.#vocabulary = vocabulary;
    this.#cursor = cursor;
    this.#draft = draft;
  }

  /** Meanings of the kind that begin at the position, longest phrase first. */
  see<K extends Meaning['kind']>(kind: K, further = 0) {
    const { subject } = this.#draft;
    const fits = (meaning: Meaning) =>
      meaning.kind === kind &&
      (subject.length === 0 ||
        kind === 'type' ||
        !('types' in meaning) ||
        meaning.types.some((type) => subject.includes(type)));
    const found = lookUp(this.#vocabulary, this.#cursor.norms, this.#cursor.at + further, fits);
    return found && { length: found.length, meanings: found.meanings as Extract<Meaning, { kind: K }>[] };
  }

  /** Consumes a field; records an ambiguity if several fields match. */
  takeField(fits: (field: FieldMeaning) => boolean = () => true): FieldMeaning | undefined {
    const start = this.#cursor.at;
    const found = this.see('field');
    if (!found) return undefined;
    const meanings = found.meanings.filter(fits);
    if (meanings.length === 0) return undefined;
    this.#cursor.at += found.length;
    if (new Set(meanings.map(({ path }) => path)).size > 1) {
      this.#note(start, meanings);
      return undefined;
    }
    const field = meanings[0]!;
    if (field.path.startsWith('attributes.')) this.#draft.typesOfFields.push(field.types);
    return field;
  }

  /** Consumes one or several options of one field, such as `tolerate or invest`; of the given field, if any. */
  takeOptions(path?: string): { path: string; values: OptionMeaning[] } | undefined {
    const start = this.#cursor.at;
    const first = this.#optionsHere(path);
    if (!first) return undefined;
    this.#cursor.at += first.length;
    const paths = new Set(first.meanings.map((option) => option.path));
    const named = paths.size > 1 ? this.#fieldBehind(paths) : undefined;
    if (paths.size > 1 && !named) {
      this.#note(start, first.meanings);
      return undefined;
    }
    const chosen = named ?? first.meanings[0]!.path;
    const values = [first.meanings.find((option) => option.path === chosen)!];
    for (;;) {
      const joint = this.#cursor.at;
      // most fields have one value per card, so that "and" joins alternatives; except tags
      const joints = chosen.startsWith('tags.') ? [', or', 'or'] : [', or', 'or', 'and', ','];
      if (!this.#cursor.takeAny(joints)) break;
      const next = this.#optionsHere(chosen);
      if (!next) {
        this.#cursor.at = joint;
        break;
      }
      this.#cursor.at += next.length;
      values.push(next.meanings[0]!);
    }
    // "mission critical business criticality" also names the field
    if (!named && path === undefined) this.#fieldBehind(new Set([chosen]));
    if (chosen.startsWith('attributes.')) this.#draft.typesOfFields.push(values[0]!.types);
    return { path: chosen, values };
  }

  /** A lifecycle phase or a date field. */
  takeDay(): { path: string; label: string } | undefined {
    const phase = this.see('phase');
    if (phase) {
      this.#cursor.at += phase.length;
      const { phase: key, label } = phase.meanings[0]!;
      return { path: `lifecycle.${key}`, label };
    }
    return this.takeField(({ valueType }) => valueType === 'date' || valueType === 'timestamp');
  }

  /** The related cards of a named type, if there is one path to them. */
  takeRelated(): { path: string; label: string } | undefined {
    const found = this.takePaths();
    if (!found) return undefined;
    if (found.paths.length === 1) return { path: found.paths[0]!.path, label: found.label };
    const meanings = found.paths.map(({ label, path }) => `${label} (${path})`);
    if (found.paths.length > 1) this.#draft.ambiguous.push({ text: found.label, meanings });
    else this.#draft.unknown.push(found.label);
    return undefined;
  }

  /** A named type, with the paths to its cards from the subject of the question. */
  takePaths(): { label: string; paths: { path: string; label: string }[] } | undefined {
    const { subject } = this.#draft;
    const found = this.see('type');
    if (!found || subject.length !== 1) return undefined;
    const { type, label } = found.meanings[0]!;
    this.#cursor.at += found.length;
    return { label, paths: pathsTo(this.#vocabulary.metamodel, subject[0]!, type) };
  }

  #optionsHere(path: string | undefined) {
    const found = this.see('option');
    if (!found || path === undefined) return found;
    const meanings = found.meanings.filter((option) => option.path === path || isTagOf(path, option));
    return meanings.length > 0 ? { ...found, meanings } : undefined;
  }

  /** The next field, if it is one of the given ones. */
  #fieldBehind(paths: ReadonlySet<string>): string | undefined {
    const found = this.see('field');
    const field = found?.meanings.find(({ path }) => paths.has(path));
    if (!field) return undefined;
    this.#cursor.at += found!.length;
    return field.path;
  }

  #note(start: number, meanings: Meaning[]): void {
    const labels = [...new Set(meanings.map((meaning) => describe(meaning)))];
    this.#draft.ambiguous.push({ text: this.#cursor.textFrom(start), meanings: labels });
  }
}

/** Any tag is an option of `tags`. */
const isTagOf = (path: string, option: OptionMeaning) => path === 'tags' && option.path.startsWith('tags.');

const describe = (meaning: Meaning): string =>
  'path' in meaning ? `${meaning.label} (${meaning.path})` : meaning.label;

/** The relation paths between two types, in the filter language. */
function pathsTo(metamodel: Metamodel, from: string, to: string): { path: string; label: string }[] {
  return metamodel.visibleRelationTypes.flatMap((key) => {
    const { source_type_key: source, target_type_key: target, label } = metamodel.relationTypes.get(key)!;
    if (source === from && target === to) return [{ path: `relation.${key}.target`, label }];
    return target === from && source === to ? [{ path: `relation.${key}.source`, label }] : [];
  });
}

/** The subject of a question. */
export interface Subject {
  types: string[];
  /** Condition of the subtype, if one is named. */
  filter?: string;
  label: string;
  /** The words of the subject. */
  start: number;
  end: number;
}

export const isNeutral = (norm: string): boolean => grammar.neutralTypes.includes(norm);

/** The first card type or subtype that is named as the subject, with those joined to it by "and". */
export function findSubject(vocabulary: Vocabulary, norms: readonly string[]): Subject | undefined {
  for (let at = 0; at < norms.length; ) {
    const found = lookUp(vocabulary, norms, at);
    const subject = found && !isElsewhere(norms, at) ? subjectOf(vocabulary, norms, at, found) : undefined;
    if (subject) return joined(vocabulary, norms, subject);
    at += found?.length ?? 1;
  }
  return undefined;
}

function isElsewhere(norms: readonly string[], at: number): boolean {
  const before = norms[at - 1] === 'a' || norms[at - 1] === 'an' ? norms[at - 2] : norms[at - 1];
  return before !== undefined && grammar.beforeOtherTypes.includes(before);
}

function subjectOf(
  vocabulary: Vocabulary,
  norms: readonly string[],
  at: number,
  { meanings, length }: { meanings: Meaning[]; length: number },
): Subject | undefined {
  const end = at + length;
  const type = meanings.find((meaning) => meaning.kind === 'type');
  if (type) return { types: [type.type], label: type.label, start: at, end };
  const subtypes = meanings.filter((meaning) => meaning.kind === 'subtype');
  const [first] = subtypes;
  if (first) {
    const types = [...new Set(subtypes.flatMap((subtype) => subtype.types))];
    const keys = [...new Set(subtypes.map(({ subtype }) => subtype))];
    const filter = keys.length > 1 ? `subtype in (${keys.join(', ')})` : `subtype = ${keys[0]}`;
    return { types, filter, label: first.label, start: at, end };
  }
  // "commercial applications" is the field Commercial Application, and names the type
  if (!meanings.some((meaning) => meaning.kind === 'field' && meaning.valueType === 'boolean'))
    return undefined;
  for (let from = at + 1; from < end; from += 1) {
    const inner = lookUp(vocabulary, norms, from, (meaning) => meaning.kind === 'type');
    const named = inner?.meanings[0];
    if (named?.kind === 'type' && from + inner!.length === end) {
      // the words remain, to be parsed as a condition
      return { types: [named.type], label: named.label, start: -1, end: -1 };
    }
  }
  return undefined;
}

/** "applications and interfaces": both types are the subject. */
function joined(vocabulary: Vocabulary, norms: readonly string[], subject: Subject): Subject {
  if (subject.filter !== undefined || subject.start < 0) return subject;
  let { types, label, end } = subject;
  while (norms[end] === 'and' || norms[end] === 'or' || norms[end] === ',') {
    const found = lookUp(vocabulary, norms, end + 1);
    const type = found?.meanings.find((meaning) => meaning.kind === 'type');
    if (!type) break;
    types = [...types, type.type];
    label = `${label}, ${type.label}`;
    end += 1 + found!.length;
  }
  return { ...subject, types, label, end };
}
