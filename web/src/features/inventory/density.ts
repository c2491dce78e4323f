import { useMutation } from '@tanstack/react-query';
import { call, patchUiPreferences } from '#client';
import { meQuery, queryClient, useMe } from '../../shell/queries.ts';

/** Heights of rows in pixels. */
export const rowHeights = { compact: 28, normal: 32, comfortable: 40 } as const;
export type Density = keyof typeof rowHeights;

const KEY = 'inventory.density';

/** The height of the rows, which is stored for the person. */
export function useDensity(): [Density, (density: Density) => void] {
  const { ui_preferences } = useMe();
  const stored = (ui_preferences.settings as Record<string, unknown> | undefined)?.[KEY];
  const { mutate, variables } = useMutation({
    mutationFn: (density: Density) => call(patchUiPreferences({ body: { settings: { [KEY]: density } } })),
    onSuccess: () => queryClient.invalidateQueries(meQuery),
  });
  const density = variables ?? stored;
  return [typeof density === 'string' && density in rowHeights ? (density as Density) : 'normal', mutate];
}
