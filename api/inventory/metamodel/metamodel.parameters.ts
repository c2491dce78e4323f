import Type from 'typebox';
import { object } from '../../../domain/kernel/shapes.ts';

export const Key = Type.String({ minLength: 1, maxLength: 100 });
export const KeyParams = object({ key: Key });

export const dryRun = Type.Boolean({
  default: false,
  description: 'Return the impact without writing anything',
});
export const force = Type.Boolean({
  default: false,
  description: 'Remove values that cannot be converted to the new type of their field',
});
