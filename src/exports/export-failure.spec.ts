import { QueryFailedError } from 'typeorm';
import { StoreError } from '../storage/store-error';
import { exportFailures, toExportFailure } from './export-failure';
import { EncodingError } from './parquet/encoding-error';

const slowDown = { code: 'SlowDown', message: 'The store answered 503', hint: 'It is retried.', isUserFault: false };

describe('failures of exports', () => {
  it.each<[string, unknown, string]>([
    ['of the store', new StoreError(slowDown, new Error('cause')), 'SlowDown'],
    ['of the store inside another error', new Error('outer', { cause: new StoreError(slowDown, null) }), 'SlowDown'],
    ['of a statement', new QueryFailedError('SELECT', [], new Error('canceling statement')), 'DatabaseFailed'],
    ['of the encoder', new EncodingError('Out of Memory'), 'EncodingFailed'],
    ['that are known already', exportFailures.rowsMoved(1, 2), 'RowsMoved'],
  ])('%s keep their code', (_, error, code) => {
    expect(toExportFailure(error)).toMatchObject({ code, isFinal: false });
  });

  it('that came from elsewhere are not the store’s, and say nothing of this deployment', () => {
    const cause = new Error('connect ECONNREFUSED 10.0.3.7:5432');
    const { message, hint, code, isFinal, cause: kept } = toExportFailure(cause);
    expect({ code, isFinal, kept }).toEqual({ code: 'InternalFailure', isFinal: false, kept: cause });
    expect(`${message} ${hint}`).not.toMatch(/store|10\.0\.3\.7/);
  });
});
