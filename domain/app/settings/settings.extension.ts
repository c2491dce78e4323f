import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { changesSecretTarget } from '../../kernel/settings/settings.addresses.ts';
import type { StoredImage } from '../../kernel/settings/settings.definition.ts';
import {
  hasSecret,
  type SettingKey,
  type SettingValues,
  settingDefaults,
} from '../../kernel/settings/settings.read.ts';
import { columnsBefore } from '../../kernel/undo/undo.types.ts';
import { exchangeImages, lockSettings, writeSetting } from './settings.change.ts';

/** Settings. Their undo restores the old values; a setting without an old value gets its default again. */
export const settingsExtension: Extension = {
  undo: [
    {
      entity: 'setting',
      events: { updated: ['settings.updated'] },
      async undo(work, ctx, event) {
        const key = event.id as SettingKey;
        const settings = await lockSettings(work.sql);
        const present = settings.values[key];
        const old = columnsBefore(event);
        const value = (
          'value' in old ? old.value : { ...(present as object), ...old }
        ) as SettingValues[SettingKey];
        const unset =
          event.data.first === true &&
          Object.keys(differingMembers({ value }, { value: settingDefaults[key] })).length === 0;
        if (key === 'logo' || key === 'favicon') {
          const there = await exchangeImages(work.sql, settings.values[key], value as StoredImage | null);
          if (!there) return { code: 'content_purged', message: `The ${key} was deleted.` };
        }
        if (hasSecret(key) && changesSecretTarget(key, settings, value as SettingValues[typeof key])) {
          return { code: 'secret_needed', message: `The secret of ${key} was given for another server.` };
        }
        await writeSetting(work, ctx, settings, key, value, unset);
        return null;
      },
    },
  ],
};
