import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { AboutSection } from './AboutSection.tsx';
import styles from './account.module.css';
import { type AccountTab, accountTabs } from './account.search.ts';
import { NotificationsSection } from './NotificationsSection.tsx';
import { ProfileSection } from './ProfileSection.tsx';
import { SecuritySection } from './SecuritySection.tsx';
import { TokensSection } from './TokensSection.tsx';

const sections: Record<AccountTab, () => React.ReactNode> = {
  profile: ProfileSection,
  security: SecuritySection,
  tokens: TokensSection,
  notifications: NotificationsSection,
  about: AboutSection,
};

/** The person's own account: one section at a time, named in the address. */
export function AccountPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { tab } = useSearch({ from: '/app/me' });
  const Section = sections[tab ?? 'profile'];
  return (
    <Page title={<h1>{t('profile.account')}</h1>}>
      <Tabs
        value={tab ?? 'profile'}
        onChange={(value) =>
          navigate({ to: '/me', search: { tab: value === 'profile' ? undefined : (value as AccountTab) } })
        }
        className={styles.tabs}
      >
        <Tabs.List className={styles.list}>
          {accountTabs.map((key) => (
            <Tabs.Tab key={key} value={key}>
              {t(`account.${key}` satisfies MessageKey)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab ?? 'profile'} className={styles.page}>
          <Section />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
