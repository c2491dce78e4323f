import type { CardTypeSeed, RelationTypeSeed } from '../../kernel/metamodel/metamodel.types.ts';
import type { CardPermission } from '../../kernel/permissions/permissions.data.ts';
import cardTypes from './card-types.json' with { type: 'json' };
import german from './german.json' with { type: 'json' };
import plurals from './plurals.json' with { type: 'json' };
import relationTypes from './relation-types.json' with { type: 'json' };
import stakeholderRoles from './stakeholder-roles.json' with { type: 'json' };

/** The built-in card types of a new workspace. */
export const cardTypeSeeds = cardTypes as CardTypeSeed[];
/** The built-in relation types of a new workspace. */
export const relationTypeSeeds = relationTypes as RelationTypeSeed[];
/** What several cards of the built-in types are called, by language. */
export const pluralSeeds: Record<string, Record<string, string>> = plurals;
/** The German of all texts that a workspace is delivered with. */
export const germanTexts = german as Record<string, string>;
/** The permissions of the built-in stakeholder roles, by role. */
export const stakeholderRoleSeeds = stakeholderRoles as Record<string, CardPermission[]>;
