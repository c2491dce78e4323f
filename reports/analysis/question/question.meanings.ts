import type { LifecyclePhase } from '../../../domain/kernel/metamodel/metamodel.types.ts';

/** The value type of a field, for questions. */
export type FieldKind = 'text' | 'number' | 'date' | 'timestamp' | 'boolean' | 'options' | 'key';

/** A possible meaning of a phrase. */
export type Meaning =
  | { kind: 'type'; type: string; label: string }
  | { kind: 'subtype'; types: string[]; subtype: string; label: string }
  | { kind: 'field'; path: string; valueType: FieldKind; unit?: 'cost'; types: string[]; label: string }
  /** Several options of one field can apply to a card if it is a tag group or a field of several values. */
  | { kind: 'option'; path: string; value: string; types: string[]; label: string; isOneOfMany?: boolean }
  /** A phase. An event, such as ending, needs a day; a lasting state, such as active, had begun before most days. */
  | { kind: 'phase'; phase: LifecyclePhase; isEvent: boolean; isLasting: boolean; label: string }
  /** What a field counts: `users`, if the field is the number of users. */
  | { kind: 'counted'; path: string; types: string[]; label: string }
  /** Costs of a kind. */
  | { kind: 'cost'; cost: string; label: string }
  | CardMeaning
  | ValueMeaning
  | PersonMeaning;

/** A text in the values of a text field. */
export interface ValueMeaning {
  kind: 'value';
  path: string;
  text: string;
  types: string[];
  label: string;
}

/** A person by the display name. */
export interface PersonMeaning {
  kind: 'person';
  email: string;
  name: string;
  label: string;
}

/** A card with this name, or cards with this text in their names. */
export interface CardMeaning {
  kind: 'card';
  type: string;
  name: string;
  partial: boolean;
  label: string;
}
