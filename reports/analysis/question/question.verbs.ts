import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { LabelledMetamodel } from '../../../domain/kernel/metamodel/metamodel.labels.ts';
import { germanVerb, germanVerbs } from './question.german.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import { normalised } from './question.words.ts';

/** A relation type as it is followed from cards of one type to cards of another, or of the same. */
export interface RelationPath {
  /** In the filter language, such as `relation.relAppToITC.target`. */
  path: string;
  /** The type at the other end. */
  type: string;
  label: string;
  /** What the first card does to the other one: phrases such as `use`, `used by`, `belong to`, each as stems. */
  verbs: string[][];
  /** What the other card does to the first one. */
  reverseVerbs: string[][];
}

const synonyms: Readonly<Record<string, string[]>> = grammar.verbs;
const succession = grammar.succession;

/** A form of a verb without its ending: `using`, `used` and `use` are the same. */
export function stem(word: string): string {
  const base = word.replace(/(?<=..)(ing|(?<!e)ed|e)$/, '');
  return base.replace(/([bdgmnprt])\1$/, '$1');
}

const stems = (phrase: string): string[] => phrase.split(' ').map((word) => stem(normalised(word)));

/** The verbs of a relation's label, such as `is supported by`, with their synonyms. A label with several verbs has none. */
function englishVerbs(label: string): string[][] {
  const phrase = label.toLowerCase().replace(/^(is|are) /, '');
  if (phrase.includes('/')) return [];
  const verb = phrase === 'crud' ? phrase : phrase.split(' ').map(normalised).join(' ');
  return [...(phrase === 'crud' ? [] : [verb]), ...(synonyms[verb] ?? [])].map(stems);
}

/** The verbs of a label and of its translations. */
const verbsOf = (label: string, translations: object | undefined): string[][] => [
  ...englishVerbs(label),
  ...plainTexts(translations).flatMap((text) => germanVerbs(text).map(stems)),
];

/** Translations that are one verb. */
const plainTexts = (translations: object | undefined): string[] =>
  Object.values(translations ?? {}).filter((text) => typeof text === 'string' && !text.includes('/'));

/** The verbs in the translations of labels, in their forms. */
export const translatedVerbs = ({ relationTypes }: Metamodel): Set<string> =>
  new Set(
    [...relationTypes.values()].flatMap(({ translations: { label, reverse_label, ...flat } }) =>
      [label, reverse_label, flat].flatMap((texts) => plainTexts(texts as object).flatMap(germanVerb)),
    ),
  );

/** Whether the source of a relation type replaces the target. */
export const isSuccession = (key: string): boolean => /successor$/i.test(key);

/** The relation types that lead from cards of a type. @param labels those in the language of the interpretation. */
export function relationPathsFrom(
  { visibleRelationTypes, relationTypes }: Metamodel,
  from: string,
  labels: LabelledMetamodel,
): RelationPath[] {
  return visibleRelationTypes.flatMap((key) => {
    const relation = relationTypes.get(key)!;
    const { source_type_key: source, target_type_key: target, translations } = relation;
    const shown = labels.relationTypes.get(key)!;
    // the reverse label of a succession says the opposite of its label
    const [label, reverse] = isSuccession(key)
      ? [succession.source.map(stems), succession.target.map(stems)]
      : [
          verbsOf(relation.label, (translations.label ?? translations) as object),
          verbsOf(relation.reverse_label ?? '', translations.reverse_label as object | undefined),
        ];
    const path = `relation.${key}.target`;
    const forward = { path, type: target, label: shown.label, verbs: label, reverseVerbs: reverse };
    const back = {
      path: `relation.${key}.source`,
      type: source,
      label: shown.reverse_label ?? shown.label,
      verbs: reverse,
      reverseVerbs: label,
    };
    return [...(source === from ? [forward] : []), ...(target === from ? [back] : [])];
  });
}

/** The number of words from `at` that are a form of one of the verbs; 0: none. */
export function verbLength(verbs: readonly string[][], norms: readonly string[], at: number): number {
  const lengths = verbs.map((parts) => {
    const isPassive = parts.length > 1;
    const matches = parts.every((part, offset) => stem(norms[at + offset] ?? '') === part);
    // "used" and "used by" say different things
    if (!matches || (!isPassive && (/ed$/.test(norms[at]!) || norms[at + 1] === 'by'))) return 0;
    return parts.length;
  });
  return Math.max(0, ...lengths);
}
