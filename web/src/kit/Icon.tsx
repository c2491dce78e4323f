import { useQuery } from '@tanstack/react-query';
import { icons } from '../generated/icons.ts';

/** Names of icons that the pages themselves use. */
type IconName = keyof typeof icons;

interface IconProps {
  /** A name of Material Symbols; unknown ones are drawn as a circle. */
  name: string;
  size?: number;
}

/** An icon of Material Symbols (rounded) in the colour of the text; hidden from screen readers. */
export function Icon({ name, size = 16 }: IconProps) {
  const own: string | undefined = icons[name as IconName];
  return own === undefined ? <OtherIcon name={name} size={size} /> : <Picture path={own} size={size} />;
}

/** An icon that only types of a workspace use. */
function OtherIcon({ name, size }: Required<IconProps>) {
  const { data } = useQuery({
    queryKey: ['icons', name],
    queryFn: async () => (await (await import('./otherIcons.ts')).readIcon(name)) ?? icons.circle,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return <Picture path={data ?? icons.circle} size={size} />;
}

function Picture({ path, size }: { path: string; size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 -960 960 960" fill="currentColor" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
