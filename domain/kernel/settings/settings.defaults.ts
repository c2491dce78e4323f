import type { Static, TSchema } from 'typebox';
import type { StoredImage } from './settings.definition.ts';
import { settingTable } from './settings.table.ts';

type Table = typeof settingTable;
type ValueOf<D> = D extends { kind: 'plain'; schema: infer S extends TSchema }
  ? Static<S>
  : D extends { kind: 'group'; members: infer M }
    ? { [N in keyof M]: M[N] extends { schema: infer S extends TSchema } ? Static<S> : never }
    : StoredImage | null;

export type SettingKey = keyof Table;
/** The values of all settings, without secrets. */
export type SettingValues = { [K in SettingKey]: ValueOf<Table[K]> };

/** Settings with one value. */
export type PlainSetting = { [K in SettingKey]: Table[K]['kind'] extends 'plain' ? K : never }[SettingKey];
/** Settings whose members are changed individually. */
export type SettingGroup = { [K in SettingKey]: Table[K]['kind'] extends 'group' ? K : never }[SettingKey];
/** Groups with a secret. */
export type SecretGroup = { [K in SettingKey]: Table[K] extends { secret: string } ? K : never }[SettingKey];

/** The default value of each setting. */
export const settingDefaults = Object.fromEntries(
  Object.entries(settingTable).map(([key, definition]) => [
    key,
    definition.kind === 'group'
      ? Object.fromEntries(Object.entries(definition.members).map(([name, member]) => [name, member.default]))
      : definition.default,
  ]),
) as SettingValues;
