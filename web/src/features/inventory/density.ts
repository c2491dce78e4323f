import { useSetting } from '../../kit/setting.ts';

/** Heights of rows in pixels. */
export const rowHeights = { compact: 28, normal: 32, comfortable: 40 } as const;
export type Density = keyof typeof rowHeights;

/** The height of the rows, which is stored for the person. */
export function useDensity(): [Density, (density: Density) => void] {
  const [stored, change] = useSetting<Density>('inventory.density');
  return [typeof stored === 'string' && stored in rowHeights ? (stored as Density) : 'normal', change];
}
