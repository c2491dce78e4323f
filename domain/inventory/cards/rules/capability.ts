import { EstateError, type FieldError } from '../../../../platform/errors.ts';
import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';

/** The card type that has levels. */
export const CAPABILITY_TYPE = 'BusinessCapability';
/** The attribute that holds a capability's level. */
export const LEVEL_FIELD = 'capabilityLevel';
/** The level that users set, on a root; it is above level 1. */
export const MACRO = 'Macro';
const MAX_LEVEL = 5;
/** Every level that the service writes. */
export const levelOptions = [MACRO, 'L1', 'L2', 'L3', 'L4', 'L5'];

/** Whether cards of the type have a level; a workspace may have removed the field. */
export function hasLevels(type: CardType): boolean {
  return type.key === CAPABILITY_TYPE && type.fields.has(LEVEL_FIELD);
}

/** A card's place among its ancestors. */
export interface Place {
  /** 1 for a root. */
  depth: number;
  /** Whether its root is of level Macro. */
  underMacro: boolean;
}

/** The level of a capability at a place: L1 to L5 by depth, or Macro for a root that is set to it. */
export function levelAt(place: Place): string {
  if (place.depth === 1 && place.underMacro) return MACRO;
  return `L${place.underMacro ? place.depth - 1 : place.depth}`;
}

/** The maximum depth of a capability: 5, and 6 below a Macro. */
export const maxDepth = (underMacro: boolean): number => (underMacro ? MAX_LEVEL + 1 : MAX_LEVEL);

/** The error for a capability below the maximum depth. */
export function capabilityTooDeep(underMacro: boolean): EstateError {
  return new EstateError(
    'capability_too_deep',
    `Business capabilities have at most ${maxDepth(underMacro)} levels ${underMacro ? 'with' : 'without'} a Macro root.`,
  );
}

/**
 * Checks the given level against the level of the card's place. Users set only Macro, on a root; an unchanged level is
 * valid, since exported cards contain it.
 * is sent back unchanged is valid, since exported cards contain it.
 */
export function checkLevel(sent: unknown, level: string): FieldError[] {
  const field = `attributes.${LEVEL_FIELD}`;
  if (sent === undefined || sent === null || sent === level) return [];
  return sent === MACRO
    ? [{ field, code: 'macro_not_root', message: 'is Macro on roots only' }]
    : [{ field, code: 'readonly', message: `follows from the place in the hierarchy, ${level}` }];
}
