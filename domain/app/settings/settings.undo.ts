import { differingMembers } from '../../kernel/events/row-changes.ts';
import { changesSecretTarget } from '../../kernel/settings/settings.addresses.ts';
import type { StoredImage } from '../../kernel/settings/settings.definition.ts';
import {
  type SecretGroup,
  type SettingKey,
  type SettingValues,
  secretMembers,
  settingDefaults,
} from '../../kernel/settings/settings.read.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { exchangeImages, lockSettings, writeSetting } from './settings.change.ts';

const isGroupWithSecret = (key: SettingKey): key is SecretGroup => Object.hasOwn(secretMembers, key);

/** Restores the old values of settings; a setting without an old value gets its default again. */
export const settingUndo: UndoSpec[] = [
  {
    entity: 'setting',
    events: { updated: ['settings.updated'] },
    async undo(work, ctx, { id, data }) {
      const key = id as SettingKey;
      const settings = await lockSettings(work.sql);
      const present = settings.values[key];
      const old = Object.fromEntries(
        Object.entries(data.changes).map(([member, change]) => [member, change.old]),
      );
      const value = (
        'value' in old ? old.value : { ...(present as object), ...old }
      ) as SettingValues[SettingKey];
      const unset =
        data.first === true &&
        Object.keys(differingMembers({ value }, { value: settingDefaults[key] })).length === 0;
      if (key === 'logo' || key === 'favicon') {
        const there = await exchangeImages(work.sql, settings.values[key], value as StoredImage | null);
        if (!there) return { code: 'content_purged', message: `The ${key} was deleted.` };
      }
      if (isGroupWithSecret(key) && changesSecretTarget(key, settings, value as SettingValues[typeof key])) {
        return { code: 'secret_needed', message: `The secret of ${key} was given for another server.` };
      }
      await writeSetting(work, ctx, settings, key, value, unset);
      return null;
    },
  },
];
