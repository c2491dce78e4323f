import Type, { type TSchema } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import type { SettingDefinition } from '../../kernel/settings/settings.definition.ts';
import { type PlainSetting, type SettingKey, settingValue } from '../../kernel/settings/settings.read.ts';
import { settingTable } from '../../kernel/settings/settings.table.ts';
import { Choice, closed, Uuid } from '../../kernel/shapes.ts';
import { imageTypes, MAX_IMAGE } from '../settings/settings.change.ts';
import { type SettingSurroundings, settingErrors } from '../settings/settings.rules.ts';
import { shapeErrors } from './workspace.fields.ts';

/** The settings that are part of workspace archives. */
export const portableSettings = (Object.keys(settingTable) as SettingKey[]).filter((key) => {
  const definition: SettingDefinition = settingTable[key];
  return definition.isPortable === true;
});

/** The errors of a setting of an archive. */
export function portableErrors(key: string, value: unknown, around: SettingSurroundings): FieldError[] {
  if (!portableSettings.includes(key as SettingKey)) {
    return [{ field: 'key', code: 'unknown_setting', message: 'is no setting of workspace archives' }];
  }
  const setting = key as SettingKey;
  const definition = settingTable[setting];
  if (definition.kind === 'image') {
    const isValid = value === null || shapeErrors(Image, value).length === 0;
    return isValid ? [] : [{ field: 'value', code: 'wrong_type', message: 'names no picture' }];
  }
  const schema =
    definition.kind === 'plain'
      ? definition.schema
      : Type.Partial(Type.Object(mapMembers(definition.members), closed));
  if (shapeErrors(schema, value).length > 0) {
    return [{ field: 'value', code: 'wrong_type', message: 'is no value of the setting' }];
  }
  // a group may lack members, which have their defaults
  return settingErrors(setting as PlainSetting, settingValue(setting as PlainSetting, value), around);
}

const mapMembers = (members: Record<string, { schema: TSchema }>) =>
  Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));

const Image = Type.Object(
  {
    file_id: Uuid,
    media_type: Choice(Object.keys(imageTypes)),
    size: Type.Integer({ minimum: 1, maximum: MAX_IMAGE }),
    // It is sent in a header.
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  closed,
);
