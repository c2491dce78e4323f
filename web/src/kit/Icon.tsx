import { useQuery } from '@tanstack/react-query';
import { icons } from '../generated/icons.ts';

/** Names of icons that the pages themselves use. */
type IconName = keyof typeof icons;

/** Paths of all other icons, which only types of a workspace use. */
const useOtherIcons = (isNeeded: boolean) =>
  useQuery({
    queryKey: ['icons'],
    queryFn: async (): Promise<Record<string, string>> =>
      (await import('../generated/icons.all.json')).default,
    enabled: isNeeded,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;

interface IconProps {
  /** A name of Material Symbols; unknown ones are drawn as a circle. */
  name: string;
  size?: number;
}

/** An icon of Material Symbols (rounded) in the colour of the text; hidden from screen readers. */
export function Icon({ name, size = 16 }: IconProps) {
  const own: string | undefined = icons[name as IconName];
  const others = useOtherIcons(own === undefined);
  const path = own ?? others?.[name] ?? icons.circle;
  return (
    <svg width={size} height={size} viewBox="0 -960 960 960" fill="currentColor" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
