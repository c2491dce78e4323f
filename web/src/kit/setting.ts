import { useMutation } from '@tanstack/react-query';
import { call, patchUiPreferences } from '#client';
import { meQuery, queryClient, useMe } from '../shell/queries.ts';

type Value = string | boolean;

/** A setting of the pages that the service keeps for the person: its value, undefined at first, and how to change it. */
export function useSetting<T extends Value>(key: string): [unknown, (value: T) => void] {
  const { ui_preferences } = useMe();
  const stored = (ui_preferences.settings as Record<string, unknown> | undefined)?.[key];
  const { mutate, variables } = useMutation({
    mutationFn: (value: T) => call(patchUiPreferences({ body: { settings: { [key]: value } } })),
    onSuccess: () => queryClient.invalidateQueries(meQuery),
  });
  return [variables ?? stored, mutate];
}
