import { Button, Modal, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSubmit } from '../kit/forms.ts';
import { useTexts } from '../kit/messages.tsx';
import { rolesQuery } from '../kit/people.ts';
import { startImpersonation } from './impersonation.ts';
import styles from './layout.module.css';
import { useMe } from './queries.ts';

/** Asks which role to view the service as. */
export function ViewAsRole({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const t = useTexts();
  const me = useMe();
  const [role, setRole] = useState<string | null>(null);
  const { data } = useQuery({ ...rolesQuery, enabled: isOpen });
  const form = useSubmit(
    () => startImpersonation(role!),
    () => undefined,
  );
  const roles = data?.items.filter(({ key }) => key !== 'admin' && key !== me.role) ?? [];
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('session.viewAs')}>
      <form className={styles.dialog} onSubmit={form.submit}>
        <p>{t('session.viewAsHelp')}</p>
        <Select
          label={t('profile.role')}
          data={roles.map(({ key, label }) => ({ value: key!, label: label! }))}
          value={role}
          onChange={setRole}
          error={form.errorOf('role') ?? form.failure}
          data-autofocus
        />
        <Button type="submit" loading={form.isBusy} disabled={role === null}>
          {t('session.viewAs')}
        </Button>
      </form>
    </Modal>
  );
}
