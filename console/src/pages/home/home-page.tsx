import { useInfo } from '../../api/info';
import { Facts, Page, Section } from '../../ui/page';

export default function HomePage() {
  const info = useInfo();
  return (
    <Page title="Home" call={{ method: 'GET', path: '/info' }}>
      <Section title="Server">
        <Facts
          facts={[
            ['Version', info?.gantry_version],
            ['Revision of the graphs', info?.host.revision_id],
          ]}
        />
      </Section>
    </Page>
  );
}
