import { useSuspenseQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { CardType as AnyCardType, RelationType as AnyRelationType } from '#client';
import { markColour, typeColours } from '../../../reports/kernel/charts/charts.colours.ts';
import { schemes } from '../../../reports/kernel/charts/charts.tokens.ts';
import { relationTypesQuery, typesQuery } from '../shell/queries.ts';
import { remembered, useDisplay } from './display.tsx';
import { type Language, useLanguage } from './messages.tsx';

/** Lists without a projection of fields contain all members. */
type CardType = Required<AnyCardType>;
export type RelationType = Required<AnyRelationType>;

/** One field of a type's sections. */
export interface Field {
  key: string;
  type: string;
  label: string;
  required?: boolean;
  readonly?: boolean;
  weight?: number;
  options?: Option[];
  translations?: Record<string, string>;
}

export interface Option {
  key: string;
  label: string;
  color?: string;
  translations?: Record<string, string>;
}

/** A part of a type's fields. */
interface Section {
  section: string;
  fields: Field[];
  columns?: number;
  translations?: Record<string, string>;
}

interface Translated {
  label: string;
  translations?: Record<string, unknown>;
}

/** The label of a type, field or option in a language; translations are by language, or by member and language. */
function labelOf({ label, translations = {} }: Translated, language: Language, member = 'label'): string {
  const found = [
    (translations[member] as Record<string, unknown> | undefined)?.[language],
    (translations[language] as Record<string, unknown> | undefined)?.[member],
    member === 'label' ? translations[language] : undefined,
  ].find((one) => typeof one === 'string' && one !== '');
  return (found as string | undefined) ?? label;
}

/** The end of a relation at which a card is. */
export type Direction = 'outgoing' | 'incoming';

interface Metamodel {
  types: readonly CardType[];
  relationTypes: readonly RelationType[];
  type(key: string): CardType | undefined;
  relationType(key: string): RelationType | undefined;
  /** The sections of a type, with their fields. */
  sections(key: string): Section[];
  field(typeKey: string, fieldKey: string): Field | undefined;
  /** A field of this key of any type. */
  anyField(fieldKey: string): Field | undefined;
  label(of: Translated, member?: string): string;
  /** The label of a type, or the key of one that is not there. */
  typeLabel(key: string): string;
  /** The label of a type, or of the one with a key, for some cards: its plural, but for one. */
  plural(type: string | { key: string }, count?: number): string;
  /** What a relation says, read from its source (`outgoing`) or its target. */
  verb(relationType: RelationType, direction: Direction): string;
}

const Context = createContext<Metamodel | undefined>(undefined);

/** Loads the metamodel before its children are shown. */
export function MetamodelProvider({ children }: { children: ReactNode }) {
  const types = useSuspenseQuery(typesQuery).data as CardType[];
  const relationTypes = useSuspenseQuery(relationTypesQuery).data as RelationType[];
  const { language } = useLanguage();
  const value = useMemo((): Metamodel => {
    const byKey = new Map(types.map((type) => [type.key, type]));
    const relationsByKey = new Map(relationTypes.map((type) => [type.key, type]));
    const sections = (key: string) => (byKey.get(key)?.fields_schema ?? []) as unknown as Section[];
    const typeLabel = (key: string) => labelOf(byKey.get(key) ?? { label: key }, language);
    return {
      types: [...types].sort((a, b) => a.sort_order - b.sort_order),
      relationTypes,
      type: (key) => byKey.get(key),
      relationType: (key) => relationsByKey.get(key),
      sections,
      field: (typeKey, fieldKey) =>
        sections(typeKey)
          .flatMap(({ fields }) => fields)
          .find(({ key }) => key === fieldKey),
      anyField: (fieldKey) =>
        types
          .flatMap(({ key }) => sections(key).flatMap(({ fields }) => fields))
          .find(({ key }) => key === fieldKey),
      label: (of, member) => labelOf(of, language, member),
      typeLabel,
      plural(type, count) {
        const key = typeof type === 'string' ? type : type.key;
        if (count === 1) return typeLabel(key);
        return labelOf({ ...byKey.get(key), label: typeLabel(key) }, language, 'plural');
      },
      verb: ({ label, reverse_label, translations }, direction) =>
        direction === 'outgoing'
          ? labelOf({ label, translations }, language)
          : labelOf({ label: reverse_label ?? label, translations }, language, 'reverse_label'),
    };
  }, [types, relationTypes, language]);
  return <Context value={value}>{children}</Context>;
}

export function useMetamodel(): Metamodel {
  const found = useContext(Context);
  if (!found) throw new Error('used outside of MetamodelProvider');
  return found;
}

/** The metamodel, if the page has loaded it. */
export const useKnownMetamodel = (): Metamodel | undefined => useContext(Context);

/** The tint and the ink of a type's mark. */
export const useTypeColours = (color: string | undefined): { tint: string; ink: string } =>
  typeColoursOf(color, useDisplay().theme);

/** The colour of an option's mark; grey without one. */
export const useMarkColour = (color: string | undefined): string =>
  markColourOf(color ?? '', useDisplay().theme);

type Theme = keyof typeof schemes;

const typeColoursOf = remembered((color: string | undefined, theme: Theme) =>
  typeColours(color, schemes[theme]),
);
const markColourOf = remembered((color: string, theme: Theme) => markColour(color, schemes[theme]));
