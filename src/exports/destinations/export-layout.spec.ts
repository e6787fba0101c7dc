import { dayFolder, destinationKey, partName } from './export-layout';

const config = { type: 's3' as const, bucket_name: 'bucket', prefix: 'a/b', include_bucket_in_prefix: false };
const identity = { exportId: 'E', tenantId: 'T', sessionId: 'S' };

describe('the layout of an export', () => {
  it('has the path of the contract, with numbers that are not padded', () => {
    expect(dayFolder(config, identity, '2026-03-07')).toBe(
      'a/b/export_id=E/tenant_id=T/session_id=S/runs/year=2026/month=3/day=7',
    );
  });

  it('has no empty segment without a prefix, and begins with the bucket on request', () => {
    expect(destinationKey({ ...config, prefix: '' }, 'tmp', 'x')).toBe('tmp/x');
    expect(destinationKey({ ...config, include_bucket_in_prefix: true }, 'tmp', 'x')).toBe('bucket/a/b/tmp/x');
  });

  it('names part files so that they sort in the order of their rows', () => {
    expect(partName('2026-03-07', 0)).toBe('2026-03-07-part-00000.parquet');
    expect(partName('2026-03-07', 9) < partName('2026-03-07', 10)).toBe(true);
  });
});
