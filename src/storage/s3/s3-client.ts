import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { PatienceSettings } from '../patience';

export interface S3Connection {
  region: string;
  /** AWS's own where it is absent. */
  endpoint?: string;
  credentials?: S3ClientConfig['credentials'];
  forcePathStyle: boolean;
  useAccelerateEndpoint?: boolean;
  /** Name resolution that judges addresses; the system's where it is absent. */
  lookup?: LookupFunction;
  maxSockets: number;
  patience: PatienceSettings;
}

const ignore = (): void => undefined;
/** Without one the client writes to the console, at each failure of a stream: failures are logged where they are handled. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A client that stores of all makers understand. */
export function connectS3({ patience, lookup, maxSockets, ...connection }: S3Connection): S3Client {
  return new S3Client({
    ...connection,
    logger: SILENT,
    // The SDK's default checksums are trailers that Google's and older stores refuse; Content-MD5 goes with every upload.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: patience.maxAttempts,
    requestHandler: requestHandler(patience, { keepAlive: true, maxSockets, ...(lookup && { lookup }) }),
  });
}

export function requestHandler(
  patience: PatienceSettings,
  agentOptions: object,
): NonNullable<S3ClientConfig['requestHandler']> {
  return {
    connectionTimeout: patience.connectionTimeout,
    requestTimeout: patience.answerTimeout,
    throwOnRequestTimeout: true,
    socketTimeout: patience.pieceTimeout ?? patience.answerTimeout,
    httpAgent: new HttpAgent(agentOptions),
    httpsAgent: new HttpsAgent(agentOptions),
  };
}
