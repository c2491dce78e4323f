import Type from 'typebox';
import { visibleConnection } from '../../../domain/exchange/itsm/itsm.model.ts';
import { arrayOf, Choice, itemComponent, Nullable } from '../../../domain/kernel/shapes.ts';

const Masked = Nullable(Type.String({ description: 'A mask if the secret is set' }));

export const ItsmConnectionSchema = itemComponent('ItsmConnection', {
  ...visibleConnection.columns,
  password: Masked,
  client_secret: Masked,
  refresh_token: Masked,
  token: Masked,
  client_key: Masked,
  owner_name: Nullable(Type.String()),
  mapping_count: Type.Integer(),
});

export const ItsmRemoteTableSchema = itemComponent('ItsmRemoteTable', {
  name: Type.String(),
  label: Type.String(),
  parent: Nullable(Type.String({ description: 'The table whose columns it inherits' })),
});

const kinds = ['text', 'integer', 'decimal', 'boolean', 'date', 'datetime', 'reference', 'other'];

export const ItsmRemoteFieldSchema = itemComponent('ItsmRemoteField', {
  name: Type.String(),
  label: Type.String(),
  type: Choice(kinds),
  remote_type: Type.String({ description: 'The remote’s name of the type' }),
  reference: Nullable(Type.String({ description: 'The table that a reference refers to' })),
  max_length: Nullable(Type.Integer()),
  mandatory: Type.Boolean(),
  choices: arrayOf({ value: Type.String(), label: Type.String() }),
});

export const ItsmRemoteRelationTypeSchema = itemComponent('ItsmRemoteRelationType', {
  id: Type.String({ description: 'The `remote_type` of relation mappings' }),
  name: Type.String(),
  forward: Type.String({ description: 'How it reads from its parent' }),
  reverse: Type.String({ description: 'How it reads from its child' }),
});
