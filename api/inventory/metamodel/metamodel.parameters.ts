import Type from 'typebox';
import { object } from '../../../domain/kernel/shapes.ts';

export const Key = Type.String({ minLength: 1, maxLength: 100 });
export const KeyParams = object({ key: Key });

export const dryRun = Type.Boolean({
  default: false,
  description: 'Tell what would be affected, and write nothing',
});
export const force = Type.Boolean({
  default: false,
  description: 'Give up values that do not fit the new type of their field',
});
