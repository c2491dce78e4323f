import { DEFAULT_LANGUAGE, translated } from './languages.ts';
import type { CardType, CompiledField, Metamodel, RelationType } from './metamodel.compile.ts';
import type { Field, RelationAttribute, Translations } from './metamodel.types.ts';

/** A field with its labels in a language. */
interface LabelledField extends CompiledField {
  /** Labels of options in the language, by their own. */
  renamed?: ReadonlyMap<string, string>;
}

/** A card type with its labels in a language. */
export interface LabelledType extends CardType {
  fields: ReadonlyMap<string, LabelledField>;
  category_label?: string;
}

/** The types of the metamodel with their labels in a language. */
export interface LabelledMetamodel {
  cardTypes: ReadonlyMap<string, LabelledType>;
  relationTypes: ReadonlyMap<string, RelationType>;
}

const known = new WeakMap<Metamodel, Map<string, LabelledMetamodel>>();

/** The metamodel with its labels in a language; without a translation they are as they are. */
export function labelledMetamodel(
  metamodel: Metamodel,
  language: string = DEFAULT_LANGUAGE,
): LabelledMetamodel {
  if (language === DEFAULT_LANGUAGE) return metamodel;
  const byLanguage = known.get(metamodel) ?? new Map<string, LabelledMetamodel>();
  known.set(metamodel, byLanguage);
  let labelled = byLanguage.get(language);
  if (!labelled) {
    labelled = labelledIn(metamodel, language);
    byLanguage.set(language, labelled);
  }
  return labelled;
}

function labelledIn({ cardTypes, relationTypes }: Metamodel, language: string): LabelledMetamodel {
  const text = (own: string, translations: Translations | undefined, member?: string) =>
    translated(own, translations, language, member);
  const fieldsOf = (
    compiled: ReadonlyMap<string, CompiledField>,
    declared: readonly (Field | RelationAttribute)[],
  ) => {
    const byKey = new Map(declared.map((field) => [field.key, field]));
    return new Map(
      [...compiled].map(([key, field]): [string, LabelledField] => {
        const { translations, options = [] } = byKey.get(key) ?? {};
        const labels = options.map((option) => [option, text(option.label, option.translations)] as const);
        const named: LabelledField = {
          ...field,
          label: text(field.label, translations),
          optionLabels: new Map(labels.map(([option, label]) => [option.key, label])),
          renamed: new Map(labels.map(([option, label]) => [option.label, label])),
        };
        return [key, named];
      }),
    );
  };
  return {
    cardTypes: new Map(
      [...cardTypes].map(([key, type]): [string, LabelledType] => [
        key,
        {
          ...type,
          label: text(type.label, type.translations),
          plural: text(text(type.label, type.translations), type.translations, 'plural'),
          category_label: text(type.category ?? '', type.translations, 'category'),
          subtypes: type.subtypes.map((one) => ({ ...one, label: text(one.label, one.translations) })),
          fields: fieldsOf(
            type.fields,
            type.fields_schema.flatMap(({ fields }) => fields),
          ),
        },
      ]),
    ),
    relationTypes: new Map(
      [...relationTypes].map(([key, type]) => [
        key,
        {
          ...type,
          label: text(type.label, type.translations),
          reverse_label: type.reverse_label && text(type.reverse_label, type.translations, 'reverse_label'),
          fields: fieldsOf(type.fields, type.attributes_schema),
        },
      ]),
    ),
  };
}
