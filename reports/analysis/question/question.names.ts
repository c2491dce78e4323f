import type { QuestionCursor } from './question.cursor.ts';
import type { QuestionDraft } from './question.draft.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { Meaning } from './question.meanings.ts';
import type { QuestionTexts } from './question.says.ts';
import type { RelationPath } from './question.verbs.ts';
import { lookUp, type Vocabulary } from './question.vocabulary.ts';

export type FieldMeaning = Extract<Meaning, { kind: 'field' }>;
export type OptionMeaning = Extract<Meaning, { kind: 'option' }>;

/** Consumes names of the metamodel that are valid for the types of the question. */
export class QuestionNames {
  readonly #vocabulary: Vocabulary;
  readonly #cursor: QuestionCursor;
  readonly #draft: QuestionDraft;

  /** The types that names are looked for in, and the path to their cards, if these are not the subject. */
  #scope: { types: readonly string[]; path: string } | undefined;

  constructor(vocabulary: Vocabulary, cursor: QuestionCursor, draft: QuestionDraft) {
    this.#vocabulary = vocabulary;
    this.#cursor = cursor;
    this.#draft = draft;
  }

  get texts(): QuestionTexts {
    return this.#cursor.texts;
  }

  /** The types that names are looked for in; none: all. */
  get types(): readonly string[] {
    return this.#scope?.types ?? this.#draft.subject;
  }

  /** Whether conditions apply to cards related to the subject. */
  get isRelated(): boolean {
    return this.#scope !== undefined;
  }

  /** Reads names of a related type; paths lead to its cards. */
  within<T>(type: string, path: string, read: () => T): T {
    const before = this.#scope;
    this.#scope = { types: [type], path: `${path}.` };
    try {
      return read();
    } finally {
      this.#scope = before;
    }
  }

  /** Reads names of the subject instead of those of a related type. */
  outside<T>(read: () => T): T {
    const before = this.#scope;
    this.#scope = undefined;
    try {
      return read();
    } finally {
      this.#scope = before;
    }
  }

  /** A path of the cards in scope, as one of the subject. */
  pathOf(path: string): string {
    return `${this.#scope?.path ?? ''}${path}`;
  }

  /** The relations of the cards that the question is about. */
  get ways(): readonly RelationPath[] {
    const { types } = this;
    return types.length === 1 && !this.#scope ? this.#vocabulary.ways(types[0]!) : [];
  }

  /** Meanings of the kind that begin at the position, longest phrase first. */
  see<K extends Meaning['kind']>(kind: K, further = 0) {
    const { types } = this;
    const fits = (meaning: Meaning) =>
      meaning.kind === kind &&
      (types.length === 0 ||
        kind === 'type' ||
        !('types' in meaning) ||
        meaning.types.some((type) => types.includes(type)));
    const found = lookUp(this.#vocabulary, this.#cursor.norms, this.#cursor.at + further, fits);
    return found && { length: found.length, meanings: found.meanings as Extract<Meaning, { kind: K }>[] };
  }

  /** The words of the longest name of any kind at the position. */
  longestHere(): number {
    const own = (meaning: Meaning) =>
      !('types' in meaning) || meaning.types.some((type) => this.#draft.subject.includes(type));
    return lookUp(this.#vocabulary, this.#cursor.norms, this.#cursor.at, own)?.length ?? 0;
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
    this.#noteTypes(field);
    return { ...field, path: this.pathOf(field.path) };
  }

  /** Consumes one or several options of one field, such as `tolerate or invest`; of the given field, if any. */
  takeOptions(path?: string): { path: string; values: OptionMeaning[] } | undefined {
    const start = this.#cursor.at;
    const first = this.#optionsHere(path?.slice(this.pathOf('').length));
    if (!first) return undefined;
    this.#cursor.at += first.length;
    const paths = new Set(first.meanings.map((option) => option.path));
    const named = paths.size > 1 ? this.#fieldBehind(paths) : undefined;
    if (paths.size > 1 && !named) {
      this.#note(start, first.meanings);
      return undefined;
    }
    const chosen = named ?? first.meanings[0]!.path;
    // one word can stand for several options: "cloud"
    const values = first.meanings.filter((option) => option.path === chosen);
    for (;;) {
      const joint = this.#cursor.at;
      // of a field with one value per card, "and" joins alternatives
      const joints = values[0]!.isOneOfMany ? [', or', 'or'] : [', or', 'or', 'and', ','];
      if (!this.#cursor.takeAny(joints)) break;
      const next = this.#optionsHere(chosen);
      if (!next) {
        this.#cursor.at = joint;
        break;
      }
      this.#cursor.at += next.length;
      // "high business value and low effort"
      if (this.#seesOtherField(chosen)) {
        this.#cursor.at = joint;
        break;
      }
      values.push(...next.meanings);
    }
    // "mission critical business criticality" also names the field
    if (!named && path === undefined) this.#fieldBehind(new Set([chosen]));
    this.#noteTypes(values[0]!);
    if (values[0]!.isOneOfMany) this.#draft.severalValued.add(this.pathOf(chosen));
    return { path: this.pathOf(chosen), values };
  }

  /** Whether a field with options is next that is not the given one. */
  #seesOtherField(path: string): boolean {
    const fields = this.see('field')?.meanings.filter(({ valueType }) => valueType === 'options') ?? [];
    return fields.length > 0 && !fields.some((field) => field.path === path);
  }

  #noteTypes({ path, types }: { path: string; types: string[] }): void {
    if (path.startsWith('attributes.') && !this.#scope) this.#draft.typesOfFields.push(types);
  }

  /** A word for several stakeholder roles, such as owner: any of them. */
  takeRoles(): { paths: string[]; label: string } | undefined {
    const found = this.see('field');
    const paths = [...new Set(found?.meanings.map(({ path }) => this.pathOf(path)))];
    if (!found || paths.length < 2 || !found.meanings.every(({ path }) => path.startsWith('stakeholder.')))
      return undefined;
    this.#cursor.at += found.length;
    return { paths, label: this.texts.join([...new Set(found.meanings.map(({ label }) => label))], 'or') };
  }

  /** The roles of owners of the cards in scope. */
  ownerRoles(): { paths: string[]; label: string } | undefined {
    const { phrases } = this.#vocabulary;
    const fields = (phrases.get('owner') ?? []).filter(
      (meaning) =>
        meaning.kind === 'field' &&
        meaning.path.startsWith('stakeholder.') &&
        meaning.types.some((type) => this.types.includes(type)),
    ) as FieldMeaning[];
    const paths = [...new Set(fields.map(({ path }) => this.pathOf(path)))];
    if (paths.length === 0) return undefined;
    return { paths, label: this.texts.join([...new Set(fields.map(({ label }) => label))], 'or') };
  }

  /** What a field counts, such as users. */
  takeCounted(): { path: string; label: string } | undefined {
    const found = this.see('counted');
    const [counted, ...others] = found?.meanings ?? [];
    if (!counted || others.length > 0) return undefined;
    this.#cursor.at += found!.length;
    this.#noteTypes(counted);
    return { path: this.pathOf(counted.path), label: counted.label };
  }

  labelOf(type: string): string {
    return this.#vocabulary.labels.cardTypes.get(type)!.label;
  }

  /** A lifecycle phase or a date field. */
  takeDay(): { path: string; label: string } | undefined {
    const phase = this.see('phase');
    const own = this.see('field');
    // the end date of a project, not of its life
    const isOwn = own?.meanings.some(({ valueType }) => valueType === 'date') === true;
    if (phase && !(isOwn && own!.length >= phase.length)) {
      this.#cursor.at += phase.length;
      const { phase: key, label } = phase.meanings[0]!;
      return { path: this.pathOf(`lifecycle.${key}`), label };
    }
    return this.takeField(({ valueType }) => valueType === 'date' || valueType === 'timestamp');
  }

  /** The data flows of a card. */
  takeFlows(): { path: string; label: string } | undefined {
    if (!this.#cursor.takeAny(grammar.dataFlows)) return undefined;
    return { path: this.pathOf('flow'), label: this.texts.say('question.flow') };
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
    return { label, paths: this.#vocabulary.ways(subject[0]!).filter((way) => way.type === type) };
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
