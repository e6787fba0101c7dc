import { MigrationInterface, QueryRunner } from 'typeorm';

/** Destinations in Google Cloud Storage and Azure Blob Storage. */
export class ExportStores1700006060000 implements MigrationInterface {
  name = 'ExportStores1700006060000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE export_destinations DROP CONSTRAINT export_destinations_destination_type_check,
        ADD CONSTRAINT export_destinations_destination_type_check
          CHECK (destination_type IN ('s3', 'gcs', 'azure_blob')) NOT VALID`);
    await queryRunner.query(
      `ALTER TABLE export_destinations VALIDATE CONSTRAINT export_destinations_destination_type_check`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE export_destinations DROP CONSTRAINT export_destinations_destination_type_check,
        ADD CONSTRAINT export_destinations_destination_type_check CHECK (destination_type = 's3')`);
  }
}
