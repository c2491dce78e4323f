import Type, { type Static, type TSchema } from 'typebox';
import type { AppPermission } from '../permissions/permissions.data.ts';

/** An image of the workspace, stored as a file. */
export interface StoredImage {
  file_id: string;
  media_type: string;
  /** Bytes. */
  size: number;
  /** Hexadecimal SHA-256. */
  sha256: string;
}

/**
 * The rights that a change of a setting can lead to: none, the rights of every account, the rights of the role of
 * self-registered users, or those of the given permissions. Users who change the setting need these rights.
 */
export type Reach = 'nothing' | 'every account' | 'registration role' | readonly AppPermission[];

/** How a setting is read and changed through the API. */
interface SettingApi {
  /** The path below `/settings`. */
  path: string;
  /** In operation ids and schema names. */
  name: string;
  /** The name of the setting in descriptions, after "Read" and "Change". */
  what: string;
  description?: string;
  /** Who may read it, besides those who may change it. */
  readableBy?: 'public';
  /** The permission to change it; `admin.settings` by default. */
  permission?: AppPermission;
  /**
   * Whether it is part of workspace archives. Destinations of mails, logins and AI requests, and settings that grant
   * access, are not.
   */
  isPortable?: boolean;
}

/** A setting with one value. */
interface PlainSettingDefinition<S extends TSchema> extends SettingApi {
  kind: 'plain';
  schema: S;
  default: Static<S>;
  reach: Reach;
  /** The member under which the value is sent and shown. */
  member: string;
  /** Whether a change may omit it, or send null for the default. */
  isOptional?: boolean;
  example: unknown;
}

/** A member of a group of settings. */
interface Member<S extends TSchema = TSchema> {
  schema: S;
  default: Static<S>;
  reach: Reach;
}

/** Settings that are read together and changed member by member. */
interface GroupDefinition<M> extends SettingApi {
  kind: 'group';
  members: M;
  /** The member that is stored encrypted and never returned. It has the reach `every account`. */
  secret?: string;
  /** The members that determine where the secret is sent: if one changes, the secret has to be given again. */
  destination?: readonly (keyof M)[];
  example: Record<string, unknown>;
}

/** An image, which has its own operations. */
interface ImageDefinition {
  kind: 'image';
  default: StoredImage | null;
  isPortable: true;
}

type Named = 'kind' | 'path' | 'name' | 'what';
type PlainOptions = Partial<
  Omit<PlainSettingDefinition<TSchema>, Named | 'member' | 'schema' | 'default'>
> & { example: unknown };

export const plain = <S extends TSchema>(
  schema: S,
  value: Static<S>,
  [path, name, what, member]: [path: string, name: string, what: string, member: string],
  options: PlainOptions,
): PlainSettingDefinition<S> => ({
  kind: 'plain',
  path,
  name,
  what,
  member,
  schema,
  default: value,
  reach: 'nothing',
  ...options,
});

/** The switch of a module. */
export const module = (path: string, name: string, what: string, reach: Reach = 'nothing') =>
  plain(Type.Boolean(), true, [path, name, `whether ${what} is enabled`, 'enabled'], {
    readableBy: 'public',
    isPortable: true,
    example: true,
    reach,
  });

export const member = <S extends TSchema>(
  schema: S,
  value: Static<S>,
  reach: Reach = 'nothing',
): Member<S> => ({ schema, default: value, reach });
/** A member whose change can lead to the rights of every account. */
export const guarded = <S extends TSchema>(schema: S, value: Static<S>) =>
  member(schema, value, 'every account');

export const group = <
  M extends Record<string, Member>,
  const O extends Omit<GroupDefinition<M>, Named | 'members'>,
>(
  members: M,
  [path, name, what]: [path: string, name: string, what: string],
  options: O,
) => ({ kind: 'group' as const, path, name, what, members, ...options });

export const image: ImageDefinition = { kind: 'image', default: null, isPortable: true };

/** Any setting except images. */
export type AnyDefinition = PlainSettingDefinition<TSchema> | GroupDefinition<Record<string, Member>>;
export type SettingDefinition = AnyDefinition | ImageDefinition;
