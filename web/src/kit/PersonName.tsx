import { Popover } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import styles from './person.module.css';

const PersonCard = lazy(async () => ({ default: (await import('./PersonCard.tsx')).PersonCard }));

interface PersonNameProps {
  /** Without an id, such as for what the service did, it is a name only. */
  id: string | null | undefined;
  name: string;
}

/** A person's name, which opens who that is and which cards they answer for. */
export function PersonName({ id, name }: PersonNameProps) {
  const [isOpen, setOpen] = useState(false);
  if (!id) return name;
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      width={300}
      position="bottom-start"
      trapFocus
      returnFocus
      shadow="md"
    >
      <Popover.Target>
        <button type="button" className={styles.name} onClick={() => setOpen(!isOpen)}>
          {name}
        </button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label={name}>
        <Suspense>{isOpen && <PersonCard id={id} name={name} onLeave={() => setOpen(false)} />}</Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
