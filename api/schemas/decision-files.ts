import Type from 'typebox';
import { component, object, Uuid } from '../../domain/kernel/shapes.ts';

/** The bytes of a file. */
export const FileContent = Type.String({ contentMediaType: 'application/octet-stream' });

export const RecordForm = object({
  file: Type.Array(Type.String({ format: 'binary' }), {
    minItems: 1,
    description: 'One part for each file',
  }),
});

export const ImportedAdrsSchema = component('ImportedAdrs', {
  created: Type.Integer({ minimum: 0 }),
  items: Type.Array(
    object({
      file: Type.String(),
      id: Uuid,
      reference_number: Type.String(),
      title: Type.String(),
      notes: Type.Array(Type.String(), { description: 'What could not be imported' }),
    }),
  ),
});
